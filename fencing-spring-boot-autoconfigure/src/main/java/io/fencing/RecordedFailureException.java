package io.fencing;

/**
 * The recorded answer of an operation is an exception that cannot be made again here: its
 * class is absent or has no constructor that takes a message. Final for this identity.
 */
public final class RecordedFailureException extends FencingException {

	private final String type;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param type the class of the exception that was recorded
	 */
	public RecordedFailureException(String operation, String type) {
		super(describe(operation, null) + "it has ended with an exception of type '" + type
				+ "', which is its final answer; use a new operation identity for a new attempt", operation, null,
				null);
		this.type = type;
	}

	/**
	 * The class of the exception that was recorded.
	 * @return its name
	 */
	public String getType() {
		return this.type;
	}

}
