package io.fencing;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A fence could not be claimed or held in time, since other transactions keep it locked:
 * usually one of an earlier holder that is still open. Nothing was applied.
 */
public final class AdmissionTimeoutException extends FencingException {

	private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	private final String storage;

	private final Duration waited;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param resource the resource
	 * @param storage the storage
	 * @param waited how long it was waited for
	 * @param cause the last conflict, if there is one
	 */
	public AdmissionTimeoutException(String operation, FencedResource resource, String storage, Duration waited,
			@Nullable Throwable cause) {
		super(describe(operation, resource) + "storage '" + storage + "' did not admit it within " + waited.toMillis()
				+ " ms, " + reason(cause) + "; nothing was applied, " + "call the whole operation again", operation,
				resource, cause);
		this.storage = storage;
		this.waited = waited;
	}

	private static String reason(@Nullable Throwable cause) {
		return (cause != null) ? "the last try failed with " + cause.getClass().getSimpleName()
				: "another transaction keeps the fence locked";
	}

	/**
	 * The storage whose fence stayed locked.
	 * @return its name
	 */
	public String getStorage() {
		return this.storage;
	}

	/**
	 * How long it was waited for.
	 * @return the time, zero where waiting was not allowed
	 */
	public Duration getWaited() {
		return this.waited;
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
