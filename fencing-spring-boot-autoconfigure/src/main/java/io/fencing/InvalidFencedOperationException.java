package io.fencing;

import org.jspecify.annotations.Nullable;

/**
 * The operation cannot be fenced as it is written, configured or called. Calling again
 * does not help; the message says what to change.
 */
public final class InvalidFencedOperationException extends FencingException {

	/**
	 * Create an exception.
	 * @param message fact, values and what to change
	 */
	public InvalidFencedOperationException(String message) {
		this(message, null);
	}

	/**
	 * Create an exception.
	 * @param message fact, values and what to change
	 * @param cause the cause, if there is one
	 */
	public InvalidFencedOperationException(String message, @Nullable Throwable cause) {
		super(message, null, null, cause);
	}

	/**
	 * Create an exception for a call.
	 * @param operation the name of the operation
	 * @param resource the resource, if a single one is meant
	 * @param problem what is wrong, as a clause
	 * @param remedy what to change, as a clause
	 */
	public InvalidFencedOperationException(String operation, @Nullable FencedResource resource, String problem,
			String remedy) {
		super(describe(operation, resource) + problem + "; " + remedy, operation, resource, null);
	}

}
