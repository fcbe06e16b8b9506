package io.fencing;

import java.time.Duration;

/**
 * This application is shutting down and starts no operation any more. The body did not
 * run; another instance, or this one after its start, can take the call. Scheduled
 * operations that ask to skip ({@link OnBusy#SKIP}) skip it.
 */
public final class ApplicationShutdownException extends FencingException {

	private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param resource the resource that it asked for
	 */
	public ApplicationShutdownException(String operation, FencedResource resource) {
		super(describe(operation, resource)
				+ "this application is shutting down and starts no operation any more; the body did not run, "
				+ "call another instance, or this one once it has started again", operation, resource, null);
	}

	@Override
	public boolean isRetryable() {
		return true;
	}

	@Override
	public Duration getRetryAfter() {
		return RETRY_AFTER;
	}

}
