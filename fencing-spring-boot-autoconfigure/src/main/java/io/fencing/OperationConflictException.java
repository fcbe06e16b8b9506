package io.fencing;

/**
 * The operation identity was used before for another input or another resource.
 */
public final class OperationConflictException extends FencingException {

	private final String operationId;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param operationId the operation identity
	 * @param problem what differs, as a clause
	 */
	public OperationConflictException(String operation, String operationId, String problem) {
		super(describe(operation, null) + "the operation identity was used before, " + problem
				+ "; use a new identity for a new request", operation, null, null);
		this.operationId = operationId;
	}

	/**
	 * The identity used twice.
	 * @return the operation identity
	 */
	public String getOperationId() {
		return this.operationId;
	}

}
