package io.fencing.lease;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.FencedResource;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;

/**
 * One grant: token, owner and a local deadline. The only mutable thing that the watchdog
 * shares with others; everyone downstream only reads it. Thread-safe.
 *
 * <p>
 * The deadline is monotonic: the time <em>before</em> the request was sent, plus the
 * lease time, less a margin. A lease past it is lost whether or not anyone has noticed
 * yet, and once lost it stays lost: a renewal that is confirmed later extends nothing.
 */
public final class Lease implements HeldResource {

	// the share of the lease time that is given up for the pace of two clocks
	private static final int MARGIN_DIVISOR = 20;

	private final LeaseRequest request;

	private final FencingToken token;

	private final MonotonicClock clock;

	private final long grantedAt;

	private final AtomicReference<LossReason> loss = new AtomicReference<>(LossReason.NONE);

	private final AtomicBoolean lossTold = new AtomicBoolean();

	private volatile long deadline;

	/**
	 * Create a lease.
	 * @param request what was asked for
	 * @param token the number that was given
	 * @param sentAt the monotonic time before the request was sent, in nanoseconds
	 * @param clock the clock that {@code sentAt} was read from
	 */
	public Lease(LeaseRequest request, long token, long sentAt, MonotonicClock clock) {
		this.request = request;
		this.token = new FencingToken(token, request.owner());
		this.clock = clock;
		this.grantedAt = sentAt;
		this.deadline = deadline(sentAt);
	}

	private long deadline(long sentAt) {
		long time = this.request.leaseTime().toNanos();
		return sentAt + time - time / MARGIN_DIVISOR;
	}

	/**
	 * The name of the operation that holds it.
	 * @return the name
	 */
	public String getOperation() {
		return this.request.operation();
	}

	@Override
	public FencedResource getResource() {
		return this.request.resource();
	}

	@Override
	public FencingToken getToken() {
		return this.token;
	}

	/**
	 * How long one grant or renewal lasts.
	 * @return the lease time
	 */
	public Duration getLeaseTime() {
		return this.request.leaseTime();
	}

	/**
	 * How long ago the request for it was sent.
	 * @return the time since
	 */
	public Duration getHeldFor() {
		return Duration.ofNanos(this.clock.nanoTime() - this.grantedAt);
	}

	@Override
	public boolean isLost() {
		return getLossReason() != LossReason.NONE;
	}

	@Override
	public LossReason getLossReason() {
		if (this.clock.nanoTime() - this.deadline >= 0) {
			// kept, so that a renewal confirmed at this very moment cannot bring it back
			this.loss.compareAndSet(LossReason.NONE, LossReason.DEADLINE);
		}
		return this.loss.get();
	}

	@Override
	public Duration getRemaining() {
		return isLost() ? Duration.ZERO : Duration.ofNanos(Math.max(0, this.deadline - this.clock.nanoTime()));
	}

	/**
	 * Take over a confirmed renewal, unless the lease is lost by now.
	 * @param sentAt the monotonic time before the renewal was sent, in nanoseconds
	 * @return whether the lease goes on
	 */
	boolean extend(long sentAt) {
		if (!isLost()) {
			this.deadline = deadline(sentAt);
		}
		return !isLost();
	}

	/**
	 * Mark it as lost, unless it already is.
	 * @param reason why
	 */
	void lose(LossReason reason) {
		this.loss.compareAndSet(LossReason.NONE, reason);
	}

	/**
	 * Claim the right to tell the world that it is lost.
	 * @return {@code true} for the first caller only, and only once it is lost
	 */
	boolean tellLoss() {
		return isLost() && this.lossTold.compareAndSet(false, true);
	}

}
