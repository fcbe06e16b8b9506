package io.fencing;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The coordinator could not be reached, or gave no usable answer, within the wait. No
 * answer is never a grant: the body did not run.
 */
public final class CoordinatorUnavailableException extends FencingException {

	private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	private final String problem;

	/**
	 * Create an exception.
	 * @param operation the name of the operation
	 * @param resource the resource
	 * @param problem what happened, as a clause without a full stop
	 * @param cause the cause, if there is one
	 */
	public CoordinatorUnavailableException(@Nullable String operation, @Nullable FencedResource resource,
			String problem, @Nullable Throwable cause) {
		super(describe(operation, resource) + "no lease, since " + problem
				+ "; check that Redis is reachable at the configured address with the configured credentials and the "
				+ "documented rights, and call again", operation, resource, cause);
		this.problem = problem;
	}

	/**
	 * What happened, without operation, resource and remedy.
	 * @return a clause without a full stop
	 */
	public String getProblem() {
		return this.problem;
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
