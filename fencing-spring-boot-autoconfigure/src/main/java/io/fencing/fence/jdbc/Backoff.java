package io.fencing.fence.jdbc;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Pauses between tries to lock a fence: twice as long each time, up to 50 ms, at random,
 * so that those who compete do not meet again. For one thread.
 */
final class Backoff {

	private static final long FIRST = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(50);

	private long next = FIRST;

	/**
	 * Pause.
	 * @return {@code false} if the thread is interrupted; it stays so
	 */
	boolean pause() {
		try {
			TimeUnit.NANOSECONDS.sleep(this.next / 2 + ThreadLocalRandom.current().nextLong(this.next));
			this.next = Math.min(LONGEST, 2 * this.next);
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
