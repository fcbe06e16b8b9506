package io.fencing;

import org.jspecify.annotations.Nullable;

/**
 * A fence refused the token. Final for this attempt: what it has read is no longer true.
 * Calling the whole operation again gets a new token and reads again.
 */
public final class StaleTokenException extends FencingException {

	private final String storage;

	private final RejectionReason reason;

	private final long token;

	private final @Nullable Long acceptedToken;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param held what was refused
	 * @param storage the storage that refused it
	 * @param reason why
	 * @param acceptedToken the token that the storage has accepted, its own time if the
	 * token has {@linkplain RejectionReason#EXPIRED expired}, {@code null} if it has none
	 * or was not asked
	 */
	public StaleTokenException(String operation, HeldResource held, String storage, RejectionReason reason,
			@Nullable Long acceptedToken) {
		super(describe(operation, held.getResource()) + "token " + held.getToken() + " "
				+ text(reason, storage, acceptedToken) + "; call the whole operation again", operation,
				held.getResource(), null);
		this.storage = storage;
		this.reason = reason;
		this.token = held.getToken().value();
		this.acceptedToken = acceptedToken;
	}

	private static String text(RejectionReason reason, String storage, @Nullable Long accepted) {
		return switch (reason) {
			case REGRESSION -> "was issued below " + accepted + ", which storage '" + storage
					+ "' has already reached (the clock of the coordinator went back; the coordinator has been lifted)";
			case MISSING -> "is unknown to storage '" + storage + "', which has lost the claim";
			case EXPIRED -> "is older than storage '" + storage + "' remembers";
			case LAGGING -> "is not yet seen by the replica that storage '" + storage + "' read from";
			case REPLACED -> "held storage '" + storage + "' in a transaction that is not the one about to commit";
			default -> "is stale, storage '" + storage + "' has already accepted "
					+ ((accepted != null) ? accepted : "a newer one");
		};
	}

	/**
	 * The storage that refused.
	 * @return its name, such as {@code postgresql}
	 */
	public String getStorage() {
		return this.storage;
	}

	/**
	 * Why it refused.
	 * @return the reason
	 */
	public RejectionReason getReason() {
		return this.reason;
	}

	/**
	 * The token that was refused.
	 * @return its number
	 */
	public long getToken() {
		return this.token;
	}

	/**
	 * The token that the storage has accepted; its own time, in microseconds since 1970,
	 * if the token is older than it remembers.
	 * @return its number, {@code null} if it has none or was not asked
	 */
	public @Nullable Long getAcceptedToken() {
		return this.acceptedToken;
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
