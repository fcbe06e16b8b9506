package io.fencing.autoconfigure;

import java.time.Duration;

import io.fencing.lease.LeaseManager;

import org.springframework.context.SmartLifecycle;

/**
 * Ends leases when the application stops: after the web server has drained and schedulers
 * have stopped, before the clients of Redis and databases close.
 */
final class FencingLifecycle implements SmartLifecycle {

	// web servers, schedulers and message listeners stop in the 4096 phases above
	private static final int PHASE = Integer.MAX_VALUE - 8192;

	private final LeaseManager leases;

	private final Duration grace;

	private volatile boolean running;

	FencingLifecycle(LeaseManager leases, Duration grace) {
		this.leases = leases;
		this.grace = grace;
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.leases.shutdown(this.grace);
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
