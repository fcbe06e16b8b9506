package io.fencing.lease;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes daemon threads with numbered names. Thread-safe.
 */
final class DaemonThreads implements ThreadFactory {

	private final String prefix;

	private final AtomicInteger counter = new AtomicInteger();

	/**
	 * Create a factory.
	 * @param prefix what the names start with
	 */
	DaemonThreads(String prefix) {
		this.prefix = prefix;
	}

	@Override
	public Thread newThread(Runnable task) {
		Thread thread = new Thread(task, this.prefix + this.counter.incrementAndGet());
		thread.setDaemon(true);
		return thread;
	}

}
