package io.fencing.autoconfigure;

import io.fencing.lease.LeaseManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * Ends leases when the application stops: after the web server has drained, listeners
 * have stopped, and executors and schedulers have let their running tasks end, before the
 * clients of Redis and databases close.
 */
final class FencingLifecycle implements SmartLifecycle {

	// web servers and message listeners stop in the phases near the greatest one,
	// executors and schedulers in theirs, clients in those near zero
	private static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;

	private static final Logger logger = LoggerFactory.getLogger(FencingLifecycle.class);

	private final LeaseManager leases;

	private final FencingProperties properties;

	private volatile boolean running;

	FencingLifecycle(LeaseManager leases, FencingProperties properties) {
		this.leases = leases;
		this.properties = properties;
	}

	@Override
	public void start() {
		logger.info("Fencing is in mode '{}', namespace '{}', writes outside of operations: '{}'",
				this.properties.mode(), this.properties.namespace(), this.properties.unfencedWrites());
		// a context may be stopped and started again, as those of tests are
		this.leases.start();
		this.running = true;
	}

	@Override
	public void stop() {
		this.leases.shutdown(this.properties.shutdown().grace());
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
