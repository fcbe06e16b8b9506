package io.fencing.fence;

/**
 * What happens to a write through a fenced storage outside of any operation
 * ({@code fencing.unfenced-writes}).
 */
public enum UnfencedWrites {

	/**
	 * It passes, uncounted.
	 */
	ALLOW,

	/**
	 * It passes, is counted and logged once for each place.
	 */
	WARN,

	/**
	 * It is refused.
	 */
	REJECT

}
