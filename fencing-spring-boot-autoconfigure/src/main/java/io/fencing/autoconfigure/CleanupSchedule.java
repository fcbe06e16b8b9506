package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Removes expired rows from time to time, on a thread of its own, while the application
 * runs. Nodes start at random times and need not know each other.
 */
final class CleanupSchedule implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(CleanupSchedule.class);

	private final Supplier<? extends Collection<Cleanup>> cleanups;

	private final Duration interval;

	private volatile @Nullable ScheduledExecutorService executor;

	/**
	 * Create a schedule.
	 * @param cleanups remove the rows
	 * @param interval the time between two runs; none, if it is zero
	 * @throws InvalidFencedOperationException if it is negative
	 */
	CleanupSchedule(Supplier<? extends Collection<Cleanup>> cleanups, Duration interval) {
		if (interval.isNegative()) {
			throw new InvalidFencedOperationException("'fencing.jdbc.cleanup-interval' is '" + interval
					+ "'; it must not be negative, and is 0 for none on this node");
		}
		this.cleanups = cleanups;
		this.interval = interval;
	}

	@Override
	public void start() {
		long nanos = this.interval.toNanos();
		if (nanos > 0) {
			CustomizableThreadFactory threads = new CustomizableThreadFactory("fencing-cleanup-");
			threads.setDaemon(true);
			ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(threads);
			executor.scheduleWithFixedDelay(this::run, ThreadLocalRandom.current().nextLong(nanos), nanos,
					TimeUnit.NANOSECONDS);
			this.executor = executor;
		}
	}

	private void run() {
		for (Cleanup cleanup : this.cleanups.get()) {
			try {
				int removed = cleanup.task().getAsInt();
				logger.debug("{} expired rows removed from {}", removed, cleanup.subject());
			}
			catch (RuntimeException ex) {
				if (isRunning()) {
					logger.warn("Expired rows of {} could not be removed; tried again in {}", cleanup.subject(),
							this.interval, ex);
				}
			}
		}
	}

	@Override
	public void stop() {
		ScheduledExecutorService executor = this.executor;
		this.executor = null;
		if (executor != null) {
			executor.shutdownNow();
		}
	}

	@Override
	public boolean isRunning() {
		return this.executor != null;
	}

	/**
	 * Removes expired rows.
	 *
	 * @param subject where from, for the log
	 * @param task removes them and answers with their number
	 */
	record Cleanup(String subject, IntSupplier task) {
	}

}
