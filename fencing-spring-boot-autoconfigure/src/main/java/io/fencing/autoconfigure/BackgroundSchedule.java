package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * Does something from time to time, on a thread of its own, while the application runs.
 * Nodes start at random times and need not know each other.
 */
final class BackgroundSchedule implements SmartLifecycle {

	// for what is under way when the application stops
	private static final long GRACE_SECONDS = 2;

	private static final Logger logger = LoggerFactory.getLogger(BackgroundSchedule.class);

	private final String name;

	private final Supplier<Collection<Task>> tasks;

	private final Duration interval;

	private final Set<String> failing = ConcurrentHashMap.newKeySet();

	private volatile @Nullable ScheduledExecutorService executor;

	/**
	 * Create a schedule.
	 * @param name names its thread
	 * @param tasks what to do; asked for when it starts
	 * @param property the property that sets the interval
	 * @param interval the time between two runs; none, if it is zero
	 * @throws InvalidFencedOperationException if it is negative
	 */
	BackgroundSchedule(String name, Supplier<Collection<Task>> tasks, String property, Duration interval) {
		if (interval.isNegative()) {
			throw new InvalidFencedOperationException("'" + property + "' is '" + interval
					+ "'; it must not be negative, and is 0 for none on this node");
		}
		this.name = name;
		this.tasks = tasks;
		this.interval = interval;
	}

	@Override
	public void start() {
		long nanos = this.interval.toNanos();
		Collection<Task> tasks = this.tasks.get();
		if (nanos > 0 && !tasks.isEmpty()) {
			CustomizableThreadFactory threads = new CustomizableThreadFactory(this.name);
			threads.setDaemon(true);
			ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(threads);
			executor.scheduleWithFixedDelay(() -> run(tasks), ThreadLocalRandom.current().nextLong(nanos), nanos,
					TimeUnit.NANOSECONDS);
			this.executor = executor;
		}
	}

	private void run(Collection<Task> tasks) {
		for (Task task : tasks) {
			try {
				int rows = task.action().getAsInt();
				logger.debug("{}: {} rows", task.description(), rows);
				this.failing.remove(task.description());
			}
			catch (Throwable ex) {
				// an Error as well: it would end the schedule without a word
				if (isRunning()) {
					tellFailure(task, ex);
				}
			}
		}
	}

	// with its trace once, as long as it goes on
	private void tellFailure(Task task, Throwable failure) {
		if (this.failing.add(task.description())) {
			logger.warn("{} failed; tried again every {} s", task.description(), this.interval.toSeconds(), failure);
		}
		else {
			logger.warn("{} fails still: {}", task.description(), failure.getMessage());
		}
	}

	@Override
	public void stop() {
		ScheduledExecutorService executor = this.executor;
		this.executor = null;
		if (executor != null) {
			executor.shutdown();
			if (!isOver(executor)) {
				executor.shutdownNow();
				isOver(executor);
			}
		}
	}

	private static boolean isOver(ScheduledExecutorService executor) {
		try {
			return executor.awaitTermination(GRACE_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	@Override
	public boolean isRunning() {
		return this.executor != null;
	}

	/**
	 * What to do.
	 *
	 * @param description what it is, for the log
	 * @param action does it, and answers with the number of rows that it has changed
	 */
	record Task(String description, IntSupplier action) {
	}

}
