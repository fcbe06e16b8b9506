package io.fencing.adversarial;

import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.FencingListener;
import io.fencing.HeldResource;

/**
 * Counts the leases that were lost.
 */
class LossCounter implements FencingListener {

	private final AtomicInteger losses = new AtomicInteger();

	@Override
	public void onLost(String operation, HeldResource held) {
		this.losses.incrementAndGet();
	}

	int take() {
		return this.losses.getAndSet(0);
	}

}
