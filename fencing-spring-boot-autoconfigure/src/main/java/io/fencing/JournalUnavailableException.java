package io.fencing;

/**
 * The journal could not be read or written before the body ran: nothing has been done.
 * Call the whole operation again.
 */
public final class JournalUnavailableException extends FencingException {

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param cause the failure of the journal
	 */
	public JournalUnavailableException(String operation, Throwable cause) {
		super(describe(operation, null) + "its journal could not be used, the body did not run; see that its database "
				+ "can be reached, and call again", operation, null, cause);
	}

	@Override
	public boolean isRetryable() {
		return true;
	}

}
