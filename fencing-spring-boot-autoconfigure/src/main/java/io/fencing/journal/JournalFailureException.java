package io.fencing.journal;

/**
 * The store of the journal has failed; whether it has done what it was asked for is not
 * known.
 */
public final class JournalFailureException extends RuntimeException {

	/**
	 * Create an exception.
	 * @param task what it was asked for
	 * @param cause its failure
	 */
	public JournalFailureException(String task, Throwable cause) {
		super("The journal failed to " + task, cause);
	}

}
