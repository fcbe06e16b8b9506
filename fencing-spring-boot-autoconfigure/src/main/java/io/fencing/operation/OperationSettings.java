package io.fencing.operation;

import java.time.Duration;
import java.util.function.Supplier;

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

	/**
	 * Below this a renewal every third of the lease time cannot keep up with a network.
	 */
	static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

	// above every sensible time, and far below what nanoseconds can count
	private static final Duration LONGEST = Duration.ofDays(366);

	/**
	 * The settings for work that neither waits for a lease nor keeps it longer than it
	 * lasts.
	 * @return the settings
	 */
	OperationSettings atOnce() {
		return new OperationSettings(this.mode, this.leaseTime, Duration.ZERO, Duration.ZERO, this.maxHold,
				Duration.ZERO, true, OnBusy.FAIL);
	}

	/**
	 * Check that the settings go together.
	 * @param subject whose settings they are, for the message
	 * @return the settings
	 * @throws InvalidFencedOperationException if they do not
	 */
	OperationSettings checked(String subject) {
		check(subject, this.leaseTime.compareTo(SHORTEST_LEASE) >= 0,
				() -> "a lease time of " + this.leaseTime.toMillis() + " ms leaves no room for three renewals; make it "
						+ SHORTEST_LEASE.toMillis() + " ms or more");
		check(subject, this.maxHold.compareTo(this.leaseTime) >= 0, () -> "'max-hold' (" + this.maxHold
				+ ") is shorter than the lease time (" + this.leaseTime + "); raise it");
		check(subject, this.minHold.compareTo(this.maxHold) <= 0,
				() -> "'min-hold' (" + this.minHold + ") is longer than 'max-hold' (" + this.maxHold + "); lower it");
		check(subject,
				!this.waitTime.isNegative() && !this.waitInTransaction.isNegative() && !this.minHold.isNegative(),
				() -> "a wait time or 'min-hold' is negative; use zero or more");
		check(subject,
				isShortEnough(this.leaseTime) && isShortEnough(this.waitTime) && isShortEnough(this.waitInTransaction)
						&& isShortEnough(this.maxHold) && isShortEnough(this.minHold),
				() -> "a time is longer than " + LONGEST.toDays() + " days; lower it");
		return this;
	}

	private static boolean isShortEnough(Duration time) {
		return time.compareTo(LONGEST) <= 0;
	}

	// at each call: text is made only where it is needed
	private static void check(String subject, boolean condition, Supplier<String> problem) {
		if (!condition) {
			throw new InvalidFencedOperationException(subject + ": " + problem.get());
		}
	}

}
