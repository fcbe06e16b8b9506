package io.fencing.lease;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives leases and places back in the background, when that could not be done at once:
 * again and again until it is answered, or they have ended by their time. Without a
 * promise. Thread-safe.
 */
final class BackgroundReturns {

	private static final Logger logger = LoggerFactory.getLogger(BackgroundReturns.class);

	private static final Duration PAUSE = Duration.ofSeconds(2);

	// as many threads may give up at once
	private static final int MAX_WAITING = 10_000;

	private static final int THREADS = 4;

	private final LeaseCoordinator coordinator;

	private final MonotonicClock clock;

	private final Duration commandTimeout;

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(MAX_WAITING), new DaemonThreads("fencing-return-"),
			new ThreadPoolExecutor.DiscardPolicy());

	/**
	 * Create an instance.
	 * @param coordinator the coordinator
	 * @param clock the clock
	 * @param commandTimeout the longest time to wait for one answer
	 */
	BackgroundReturns(LeaseCoordinator coordinator, MonotonicClock clock, Duration commandTimeout) {
		this.coordinator = coordinator;
		this.clock = clock;
		this.commandTimeout = commandTimeout;
		this.threads.allowCoreThreadTimeOut(true);
	}

	/**
	 * Give back what a request may have been granted, and its place.
	 * @param request the request, which nobody waits for any more
	 */
	void abandon(LeaseRequest request) {
		Runnable task = () -> this.coordinator.abandon(request, this.commandTimeout);
		run(task, request.leaseTime());
		// a server that was frozen may run the request after the first of these
		afterPause(() -> run(task, request.leaseTime()));
	}

	/**
	 * Give back a lease.
	 * @param lease the lease
	 * @param keepFor how long the resource stays taken nevertheless
	 */
	void release(Lease lease, Duration keepFor) {
		run(() -> this.coordinator.release(lease, keepFor, this.commandTimeout), lease.getLeaseTime());
	}

	private void run(Runnable task, Duration within) {
		long startedAt = this.clock.nanoTime();
		this.threads.execute(() -> {
			try {
				task.run();
			}
			catch (RuntimeException ex) {
				logger.debug("What could not be given back is given back later, or ends by its time", ex);
				Duration left = within.minus(PAUSE).minusNanos(this.clock.nanoTime() - startedAt);
				if (!left.isNegative()) {
					afterPause(() -> run(task, left));
				}
			}
		});
	}

	private static void afterPause(Runnable task) {
		CompletableFuture.delayedExecutor(PAUSE.toNanos(), TimeUnit.NANOSECONDS).execute(task);
	}

	/**
	 * Give back what can be within the time for one answer, and nothing afterwards.
	 */
	void close() {
		this.threads.shutdown();
		try {
			if (!this.threads.awaitTermination(this.commandTimeout.toNanos(), TimeUnit.NANOSECONDS)) {
				this.threads.getQueue().clear();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
