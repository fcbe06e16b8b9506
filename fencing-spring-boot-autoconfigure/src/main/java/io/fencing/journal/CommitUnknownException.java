package io.fencing.journal;

/**
 * A commit was sent and no answer came back.
 */
public final class CommitUnknownException extends RuntimeException {

	/**
	 * Create an exception.
	 * @param cause what came in place of the answer
	 */
	public CommitUnknownException(Throwable cause) {
		super("The commit was sent and no answer came back", cause);
	}

}
