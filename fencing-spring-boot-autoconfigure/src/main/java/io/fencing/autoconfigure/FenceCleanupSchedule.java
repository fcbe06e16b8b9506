package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Removes expired rows from the fence tables from time to time, on a thread of its own,
 * while the application runs. Nodes start at random times and need not know each other.
 */
final class FenceCleanupSchedule implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(FenceCleanupSchedule.class);

	private final Supplier<? extends Collection<JdbcFence>> fences;

	private final Duration interval;

	private volatile @Nullable ScheduledExecutorService executor;

	/**
	 * Create a schedule.
	 * @param fences the fences to look after
	 * @param interval the time between two runs; none, if it is zero
	 * @throws InvalidFencedOperationException if it is negative
	 */
	FenceCleanupSchedule(Supplier<? extends Collection<JdbcFence>> fences, Duration interval) {
		if (interval.isNegative()) {
			throw new InvalidFencedOperationException("'fencing.jdbc.cleanup-interval' is '" + interval
					+ "'; it must not be negative, and is 0 for none on this node");
		}
		this.fences = fences;
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
		for (JdbcFence fence : this.fences.get()) {
			try {
				int removed = fence.removeExpired();
				logger.debug("{} expired rows removed from the fence of storage '{}'", removed, fence.getStorage());
			}
			catch (RuntimeException ex) {
				if (isRunning()) {
					logger.warn("Expired rows of the fence of storage '{}' could not be removed; tried again in {}",
							fence.getStorage(), this.interval, ex);
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

}
