package io.fencing;

/**
 * What would have become of an operation that is only observed, had it been enforced.
 */
public enum Observation {

	/**
	 * It would have been admitted.
	 */
	ADMITTED,

	/**
	 * It would have been refused.
	 */
	REFUSED,

	/**
	 * It could not be told without waiting or failing.
	 */
	UNKNOWN

}
