package io.fencing.sample.lab;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Holds one worker up at one place until it is told to go on. Every wait is bounded.
 */
final class Pause {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private final CountDownLatch reached = new CountDownLatch(1);

	private final CountDownLatch ended = new CountDownLatch(1);

	/**
	 * Called by the worker: stay here until the pause ends.
	 */
	void hold() {
		this.reached.countDown();
		await(this.ended);
	}

	/**
	 * Wait until the worker is held up, or will never be.
	 */
	void awaitReached() {
		await(this.reached);
	}

	/**
	 * Let the worker go on, or never be held up.
	 */
	void end() {
		this.reached.countDown();
		this.ended.countDown();
	}

	private static void await(CountDownLatch latch) {
		try {
			if (!latch.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Nothing happened within " + LIMIT);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

}
