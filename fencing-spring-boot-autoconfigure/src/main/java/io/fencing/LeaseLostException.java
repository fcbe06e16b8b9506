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
		this(operation, held, held.getLossReason());
	}

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param held what is lost
	 * @param reason why it is lost
	 */
	public LeaseLostException(String operation, HeldResource held, LossReason reason) {
		super(describe(operation, held.getResource()) + "the lease with token " + held.getToken() + " is lost ("
				+ text(reason) + "), nothing was sent; call the whole operation again", operation, held.getResource(),
				null);
		this.reason = reason;
	}

	private static String text(LossReason reason) {
		return switch (reason) {
			case NONE -> "reason unknown";
			case DEADLINE -> "no renewal was confirmed before its deadline";
			case REFUSED -> "the coordinator no longer knows it";
			case MAX_HOLD -> "the operation ran for longer than its 'max-hold'";
			case ENDED -> "the operation has ended, its tasks must end before it does";
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
