package io.fencing;

/**
 * The lease is known to be gone or past its deadline, so a new transaction, command or
 * statement was not sent. A transaction that holds the fence may still finish.
 */
public final class LeaseLostException extends FencingException {

	private final LossReason reason;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param held what is lost
	 */
	public LeaseLostException(String operation, HeldResource held) {
		super(describe(operation, held.getResource()) + "the lease with token " + held.getToken() + " is lost ("
				+ text(held.getLossReason()) + "), nothing was sent; call the whole operation again", operation,
				held.getResource(), null);
		this.reason = held.getLossReason();
	}

	private static String text(LossReason reason) {
		return switch (reason) {
			case NONE -> "reason unknown";
			case DEADLINE -> "no renewal was confirmed before its deadline";
			case REFUSED -> "the coordinator no longer knows it";
			case MAX_HOLD -> "the operation ran for longer than its 'max-hold'";
			case SHUTDOWN -> "the application is shutting down";
		};
	}

	/**
	 * Why it is lost.
	 * @return the reason
	 */
	public LossReason getReason() {
		return this.reason;
	}

	@Override
	public boolean isRetryable() {
		return true;
	}

	@Override
	public boolean isDataStale() {
		return true;
	}

}
