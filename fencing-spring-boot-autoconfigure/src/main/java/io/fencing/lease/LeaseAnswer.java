package io.fencing.lease;

import java.time.Duration;

/**
 * What the coordinator answers to one attempt to acquire.
 */
public sealed interface LeaseAnswer {

	/**
	 * The lease is granted.
	 *
	 * @param token the number given with it; the same when the same owner asks again
	 */
	record Granted(long token) implements LeaseAnswer {
	}

	/**
	 * Another owner has the lease.
	 *
	 * @param remaining how long its lease still lasts unless it is renewed
	 */
	record Busy(Duration remaining) implements LeaseAnswer {
	}

}
