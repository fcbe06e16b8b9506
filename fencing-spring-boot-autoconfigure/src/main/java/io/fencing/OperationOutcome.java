package io.fencing;

/**
 * How one call of a fenced operation ended.
 */
public enum OperationOutcome {

	/**
	 * The body returned and nothing was refused.
	 */
	SUCCESS,

	/**
	 * The recorded result was returned; the body did not run.
	 */
	REPLAYED,

	/**
	 * The body returned, and its transaction was rolled back because it had asked for
	 * that.
	 */
	ROLLED_BACK,

	/**
	 * The body threw; its exception reached the caller.
	 */
	ERROR,

	/**
	 * Somebody else held the resource for longer than allowed; the body did not run.
	 */
	BUSY,

	/**
	 * As {@link #BUSY}, or the application is shutting down, and the caller had asked to
	 * skip.
	 */
	SKIPPED,

	/**
	 * The coordinator could not be reached, or the application is shutting down; the body
	 * did not run.
	 */
	UNAVAILABLE,

	/**
	 * The lease was lost and the operation was stopped locally.
	 */
	LOST,

	/**
	 * A fence refused the token.
	 */
	STALE,

	/**
	 * A fence could not be claimed or held in time.
	 */
	ADMISSION_TIMEOUT,

	/**
	 * A commit was sent and no answer came back.
	 */
	UNKNOWN,

	/**
	 * The call was refused for what it is: an invalid request, a conflict of identity, an
	 * unfenced write.
	 */
	REFUSED

}
