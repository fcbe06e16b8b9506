package io.fencing.lease.redisson;

/**
 * What is done where the Redis that grants leases may evict them.
 */
public enum Eviction {

	/**
	 * It is told in the log, once.
	 */
	WARN,

	/**
	 * The application does not start, and no lease is granted.
	 */
	FAIL,

	/**
	 * Nothing; Redis is not asked.
	 */
	IGNORE

}
