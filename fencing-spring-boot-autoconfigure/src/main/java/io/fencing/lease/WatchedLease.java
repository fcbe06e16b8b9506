package io.fencing.lease;

import java.time.Duration;

import io.fencing.LossReason;
import io.fencing.lease.LeaseManager.LeaseTerms;

/**
 * A lease that the watchdog keeps, and when it has to look at it again. Thread-safe.
 */
final class WatchedLease {

	/**
	 * Nothing to do: about 146 years in nanoseconds.
	 */
	static final long NEVER = Long.MAX_VALUE / 2;

	private static final Duration NEVER_DURATION = Duration.ofNanos(NEVER);

	private static final int RENEWALS_PER_LEASE_TIME = 3;

	// a renewal that is due within this part of its period goes along with others
	private static final int SLACKS_PER_PERIOD = 16;

	// a renewal that failed is tried again after this part of the lease time
	private static final int RETRIES_PER_LEASE_TIME = 10;

	private final Lease lease;

	private final LeaseTerms terms;

	private final MonotonicClock clock;

	private long renewAt;

	private boolean inFlight;

	private boolean givenBack;

	/**
	 * Start to watch.
	 * @param lease the lease
	 * @param terms the terms that it was acquired on
	 * @param clock the clock
	 */
	WatchedLease(Lease lease, LeaseTerms terms, MonotonicClock clock) {
		this.lease = lease;
		this.terms = terms;
		this.clock = clock;
		this.renewAt = clock.nanoTime() - lease.getHeldFor().toNanos() + getRenewalPeriod().toNanos();
	}

	/**
	 * The lease.
	 * @return the lease
	 */
	Lease getLease() {
		return this.lease;
	}

	/**
	 * The terms that it was acquired on.
	 * @return the terms
	 */
	LeaseTerms getTerms() {
		return this.terms;
	}

	/**
	 * How long after a renewal the next one is sent.
	 * @return a third of the lease time
	 */
	Duration getRenewalPeriod() {
		return this.lease.getLeaseTime().dividedBy(RENEWALS_PER_LEASE_TIME);
	}

	/**
	 * Lose the lease if it has been held for too long.
	 */
	void enforceMaxHold() {
		if (this.lease.getHeldFor().compareTo(this.terms.maxHold()) >= 0) {
			this.lease.lose(LossReason.MAX_HOLD);
		}
	}

	/**
	 * Start a renewal if one is due, or nearly so: many leases are renewed together then,
	 * however they came one after another.
	 * @return whether it is to be sent; then it ends with {@link #confirm},
	 * {@link #refuse} or {@link #postpone}
	 */
	synchronized boolean startRenewal() {
		if (untilRenewal() > getRenewalPeriod().toNanos() / SLACKS_PER_PERIOD || this.lease.isLost()
				|| this.givenBack) {
			return false;
		}
		this.inFlight = true;
		return true;
	}

	/**
	 * End a renewal that was confirmed.
	 * @param sentAt the time before it was sent
	 */
	synchronized void confirm(long sentAt) {
		this.lease.extend(sentAt);
		endRenewal(sentAt + getRenewalPeriod().toNanos());
	}

	/**
	 * End a renewal that was refused: the lease is lost, unless it was given back
	 * meanwhile.
	 */
	synchronized void refuse() {
		if (!this.givenBack) {
			this.lease.lose(LossReason.REFUSED);
		}
		endRenewal(this.renewAt);
	}

	/**
	 * End a renewal that was not answered.
	 */
	synchronized void postpone() {
		endRenewal(this.clock.nanoTime() + this.lease.getLeaseTime().toNanos() / RETRIES_PER_LEASE_TIME);
	}

	private void endRenewal(long nextAt) {
		this.renewAt = nextAt;
		this.inFlight = false;
	}

	/**
	 * Note that the lease is being given back.
	 */
	synchronized void giveBack() {
		this.givenBack = true;
	}

	/**
	 * Whether the lease is being given back.
	 * @return whether nothing is to be sent for it any more
	 */
	synchronized boolean isGivenBack() {
		return this.givenBack;
	}

	/**
	 * When to look at the lease again.
	 * @return nanoseconds from now
	 */
	synchronized long untilNextLook() {
		if (this.lease.isLost() || this.givenBack) {
			return NEVER;
		}
		long untilDeadline = this.lease.getRemaining().toNanos() + 1;
		return Math.min(Math.min(untilDeadline, untilMaxHold()), untilRenewal());
	}

	private long untilMaxHold() {
		Duration left = this.terms.maxHold().minus(this.lease.getHeldFor());
		return (left.compareTo(NEVER_DURATION) < 0) ? left.toNanos() : NEVER;
	}

	private long untilRenewal() {
		return (this.terms.renew() && !this.inFlight) ? this.renewAt - this.clock.nanoTime() : NEVER;
	}

}
