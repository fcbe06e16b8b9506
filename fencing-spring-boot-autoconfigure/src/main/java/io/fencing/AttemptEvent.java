package io.fencing;

/**
 * What the journal knows to have happened to an operation with an identity.
 */
public enum AttemptEvent {

	/**
	 * An attempt was recorded and is about to run the body.
	 */
	STARTED,

	/**
	 * The body has returned, and its work was committed together with its result.
	 */
	COMPLETED,

	/**
	 * The body has ended with an exception that is the answer from now on.
	 */
	REJECTED,

	/**
	 * The attempt has certainly changed nothing; the next call runs.
	 */
	FAILED,

	/**
	 * The commit was sent and no answer came back.
	 */
	UNKNOWN,

	/**
	 * The attempt is over, and its effects outside the database may have happened.
	 */
	UNDECIDED,

	/**
	 * A call was answered with what is recorded; the body did not run.
	 */
	ANSWERED

}
