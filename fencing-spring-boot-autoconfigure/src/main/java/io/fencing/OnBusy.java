package io.fencing;

/**
 * What an operation does when its resource is leased to somebody else for longer than it
 * may wait.
 */
public enum OnBusy {

	/**
	 * Throw a {@link LeaseNotAcquiredException}.
	 */
	FAIL,

	/**
	 * Return without running the body: {@code null}, {@code Optional.empty()} or nothing.
	 * Meant for scheduled jobs, of which one node's run is enough.
	 */
	SKIP

}
