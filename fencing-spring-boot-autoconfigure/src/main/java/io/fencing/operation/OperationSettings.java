package io.fencing.operation;

import java.time.Duration;

import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.fence.FencingMode;

/**
 * How one operation runs, with nothing left open. Immutable.
 *
 * @param mode how far fencing goes
 * @param leaseTime how long one grant or renewal lasts
 * @param waitTime how long to wait for the lease
 * @param waitInTransaction how long to wait while a transaction of the caller is open
 * @param maxHold the longest time that the lease is kept
 * @param minHold the shortest time that the resource stays taken
 * @param renew whether the lease is renewed
 * @param onBusy what to do when the lease is not to be had
 */
public record OperationSettings(FencingMode mode, Duration leaseTime, Duration waitTime, Duration waitInTransaction,
		Duration maxHold, Duration minHold, boolean renew, OnBusy onBusy) {

	// below this a renewal every third of the lease time cannot keep up with a network
	private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

	/**
	 * Check that the settings of an operation go together.
	 * @param operation the name of the operation
	 * @return the settings
	 * @throws InvalidFencedOperationException if they do not
	 */
	OperationSettings checked(String operation) {
		check(operation, this.leaseTime.compareTo(SHORTEST_LEASE) >= 0, "a lease time of " + this.leaseTime.toMillis()
				+ " ms leaves no room for three renewals; make it " + SHORTEST_LEASE.toMillis() + " ms or more");
		check(operation, this.maxHold.compareTo(this.leaseTime) >= 0,
				"'max-hold' (" + this.maxHold + ") is shorter than the lease time (" + this.leaseTime + "); raise it");
		check(operation, this.minHold.compareTo(this.maxHold) <= 0,
				"'min-hold' (" + this.minHold + ") is longer than 'max-hold' (" + this.maxHold + "); lower it");
		check(operation, !this.waitTime.isNegative() && !this.minHold.isNegative(),
				"a wait time or 'min-hold' is negative; use zero or more");
		return this;
	}

	private static void check(String operation, boolean condition, String problem) {
		if (!condition) {
			throw new InvalidFencedOperationException("Operation '" + operation + "': " + problem);
		}
	}

}
