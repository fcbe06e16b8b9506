package io.fencing.testing;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.fencing.lease.MonotonicClock;

/**
 * A clock that goes on when told to.
 */
public final class ManualClock implements MonotonicClock {

	// close to the overflow, as System.nanoTime() may be
	private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000_000_000L);

	@Override
	public long nanoTime() {
		return this.now.get();
	}

	/**
	 * Let time pass.
	 */
	public void advance(Duration time) {
		this.now.addAndGet(time.toNanos());
	}

}
