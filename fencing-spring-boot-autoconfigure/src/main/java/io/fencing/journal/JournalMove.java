package io.fencing.journal;

/**
 * What can happen to an operation identity.
 */
public enum JournalMove {

	/**
	 * An attempt is about to run the body.
	 */
	START,

	/**
	 * A newer attempt, whose claim proves that the one before can commit no more, is
	 * about to run the body.
	 */
	TAKE_OVER,

	/**
	 * The body has returned, and its result commits with its work.
	 */
	COMPLETE,

	/**
	 * The body has ended with an exception that is final.
	 */
	REJECT,

	/**
	 * The attempt has certainly changed nothing.
	 */
	FAIL,

	/**
	 * The attempt may have had effects outside the database.
	 */
	DOUBT,

	/**
	 * The retention is over.
	 */
	FORGET

}
