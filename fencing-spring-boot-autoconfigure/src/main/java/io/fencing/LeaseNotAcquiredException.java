package io.fencing;

import java.time.Duration;

/**
 * The resource stayed leased to somebody else for longer than the operation may wait. The
 * body did not run.
 */
public final class LeaseNotAcquiredException extends FencingException {

	private final Duration retryAfter;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param resource the resource that was not to be had
	 * @param waited how long it was waited for
	 * @param retryAfter how long the present lease still lasts unless it is renewed
	 */
	public LeaseNotAcquiredException(String operation, FencedResource resource, Duration waited, Duration retryAfter) {
		super(describe(operation, resource) + "still leased to another owner after a wait of " + waited.toMillis()
				+ " ms; the body did not run, call again later or raise the wait time", operation, resource, null);
		this.retryAfter = retryAfter;
	}

	@Override
	public boolean isRetryable() {
		return true;
	}

	@Override
	public Duration getRetryAfter() {
		return this.retryAfter;
	}

}
