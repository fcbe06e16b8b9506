package io.fencing.testing;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Freezes random workers, one at a time, for random times, until closed. On return from
 * {@link #close()} all of them run. What it does follows from the seed; when, does not.
 */
public final class Freezer implements AutoCloseable {

	private final Random random;

	private final List<? extends Freezable> workers;

	private final Duration longestRun;

	private final Duration longestFreeze;

	private final CountDownLatch closed = new CountDownLatch(1);

	private final AtomicInteger freezes = new AtomicInteger();

	private final Thread thread = new Thread(this::run, "freezer");

	private volatile Throwable failure;

	private Freezer(long seed, List<? extends Freezable> workers, Duration longestRun, Duration longestFreeze) {
		this.random = new Random(seed);
		this.workers = List.copyOf(workers);
		this.longestRun = longestRun;
		this.longestFreeze = longestFreeze;
	}

	/**
	 * Start to freeze.
	 * @param seed the seed
	 * @param workers the workers
	 * @param longestRun the longest time without a freeze
	 * @param longestFreeze the longest time that a worker is frozen
	 * @return the freezer
	 */
	public static Freezer start(long seed, List<? extends Freezable> workers, Duration longestRun,
			Duration longestFreeze) {
		Freezer freezer = new Freezer(seed, workers, longestRun, longestFreeze);
		freezer.thread.setDaemon(true);
		freezer.thread.start();
		return freezer;
	}

	private void run() {
		try {
			while (!pause(this.longestRun)) {
				Freezable worker = this.workers.get(this.random.nextInt(this.workers.size()));
				worker.freeze();
				try {
					this.freezes.incrementAndGet();
					pause(this.longestFreeze);
				}
				finally {
					worker.thaw();
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException | AssertionError ex) {
			this.failure = ex;
		}
	}

	private boolean pause(Duration longest) throws InterruptedException {
		return this.closed.await(1 + (long) (this.random.nextDouble() * longest.toMillis()), TimeUnit.MILLISECONDS);
	}

	/**
	 * How often a worker was frozen.
	 * @return the number of freezes
	 */
	public int getFreezes() {
		return this.freezes.get();
	}

	@Override
	public void close() {
		this.closed.countDown();
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (this.failure != null) {
			throw new IllegalStateException("Could not go on freezing", this.failure);
		}
	}

}
