package io.fencing;

import org.jspecify.annotations.Nullable;

/**
 * A commit was sent and no answer came back: the work is neither known to have happened
 * nor known to have failed. Never run it again blindly; a call with the same operation
 * identity finds out.
 */
public final class OutcomeUnknownException extends FencingException {

	private final @Nullable String operationId;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param operationId the operation identity, if it has one
	 * @param cause the failure of the commit
	 */
	public OutcomeUnknownException(String operation, @Nullable String operationId, Throwable cause) {
		super(describe(operation, null) + "the commit was sent and no answer came back, its outcome is unknown; "
				+ "call again with the same operation identity, or look at the data, before doing the work again",
				operation, null, cause);
		this.operationId = operationId;
	}

	/**
	 * Create an exception for an attempt with effects outside the database, which nobody
	 * may repeat by guess.
	 * @param operation the name of the operation
	 * @param operationId the operation identity
	 */
	public OutcomeUnknownException(String operation, String operationId) {
		super(describe(operation, null) + "an earlier attempt has ended without an answer and may have had effects "
				+ "outside the database; nothing was done, find out and decide it first", operation, null, null);
		this.operationId = operationId;
	}

	/**
	 * The identity to ask with.
	 * @return the operation identity, or {@code null} if the operation has none
	 */
	public @Nullable String getOperationId() {
		return this.operationId;
	}

}
