package io.fencing;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The root of all failures of fencing. The message carries the operation's name and the
 * resource's fingerprint; the raw name of the resource is only in {@link #getResource()}.
 *
 * <p>
 * Two things are told apart: whether calling the <em>whole operation</em> again may
 * succeed ({@link #isRetryable()}), and whether what this attempt has read must never be
 * written ({@link #isDataStale()}).
 */
public abstract class FencingException extends RuntimeException {

	private final @Nullable String operation;

	private final transient @Nullable FencedResource resource;

	/**
	 * Create an exception.
	 * @param message fact, values and what to do
	 * @param operation the name of the operation, if there is one
	 * @param resource the resource, if there is one
	 * @param cause the cause, if there is one
	 */
	protected FencingException(String message, @Nullable String operation, @Nullable FencedResource resource,
			@Nullable Throwable cause) {
		super(message, cause);
		this.operation = operation;
		this.resource = resource;
	}

	/**
	 * The name of the operation.
	 * @return the name, or {@code null} outside of one
	 */
	public @Nullable String getOperation() {
		return this.operation;
	}

	/**
	 * The raw name of the resource: personal data, for programs and not for logs.
	 * @return the name, or {@code null} where no single resource is meant
	 */
	public @Nullable String getResource() {
		return (this.resource != null) ? this.resource.getName() : null;
	}

	/**
	 * Whether this is about the given resource.
	 * @param other a resource
	 * @return whether it is
	 */
	public boolean concerns(FencedResource other) {
		return (this.resource != null) && this.resource.equals(other);
	}

	/**
	 * Whether calling the whole operation again, from its first read, may succeed.
	 * @return whether it may
	 */
	public boolean isRetryable() {
		return false;
	}

	/**
	 * When to call again.
	 * @return the time to wait, or {@code null} where a retry makes no sense or can be
	 * made at once
	 */
	public @Nullable Duration getRetryAfter() {
		return null;
	}

	/**
	 * Whether what this attempt has read is no longer true and must never be written, not
	 * even by another way.
	 * @return whether it is stale
	 */
	public boolean isDataStale() {
		return false;
	}

	static String describe(@Nullable String operation, @Nullable FencedResource resource) {
		StringBuilder text = new StringBuilder();
		text.append((operation != null) ? "Operation '" + operation + "'" : "A call outside of any operation");
		if (resource != null) {
			text.append(" on resource ").append(resource.getFingerprint());
		}
		return text.append(": ").toString();
	}

}
