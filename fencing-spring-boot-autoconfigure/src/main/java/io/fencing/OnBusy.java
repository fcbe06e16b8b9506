package io.fencing;

/**
 * What an operation does when its resource is leased to somebody else for longer than it
 * may wait, or when this application is shutting down.
 */
public enum OnBusy {

	/**
	 * Throw a {@link LeaseNotAcquiredException} or an
	 * {@link ApplicationShutdownException}.
	 */
	FAIL,

	/**
	 * Return without running the body: {@code null}, {@code Optional.empty()} or nothing.
	 * Meant for scheduled jobs, of which one node's run is enough.
	 */
	SKIP

}
