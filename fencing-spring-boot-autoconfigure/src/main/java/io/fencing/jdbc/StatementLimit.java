package io.fencing.jdbc;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cancels statements that take too long, on any database. One thread, which ends when
 * there is nothing to do, looks at all of them four times a second, and each that is late
 * is cancelled on another one. {@link Statement#setQueryTimeout} would not do: H2 keeps
 * it for the connection, MariaDB sends other statements, and PostgreSQL's driver wakes a
 * timer for each. Thread-safe.
 */
public final class StatementLimit {

	private static final Logger logger = LoggerFactory.getLogger(StatementLimit.class);

	private static final Duration PERIOD = Duration.ofMillis(250);

	private static final int LOOKS_IN_VAIN = 20;

	private final long limit;

	// what has ended is left to the thread that looks: that is cheaper for the others
	private final Queue<Running> running = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean looking = new AtomicBoolean();

	/**
	 * Create a limit.
	 * @param limit the longest time for one statement, which it exceeds by the time
	 * between two looks and that of the cancellation
	 */
	public StatementLimit(Duration limit) {
		this.limit = limit.toNanos();
	}

	/**
	 * A statement is about to be executed.
	 * @param statement the statement
	 * @return what to close when it has been, before the statement is used for anything
	 * else
	 */
	public Running begin(Statement statement) {
		Running begun = new Running(statement, System.nanoTime() + this.limit);
		this.running.add(begun);
		if (!this.looking.get() && this.looking.compareAndSet(false, true)) {
			start();
		}
		return begun;
	}

	private void start() {
		if (!start(this::look, "fencing-statement-limit")) {
			this.looking.set(false);
			this.running.clear();
		}
	}

	private static boolean start(Runnable task, String name) {
		// nothing of the thread that happens to be the first
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		try {
			thread.start();
			return true;
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread can be started that would cancel a statement which takes too long", ex);
			return false;
		}
	}

	private void look() {
		try {
			lookWhileNeeded();
		}
		finally {
			this.looking.set(false);
		}
	}

	private void lookWhileNeeded() {
		int inVain = 0;
		while (inVain < LOOKS_IN_VAIN || goesOn()) {
			try {
				Thread.sleep(PERIOD.toMillis());
			}
			catch (InterruptedException ex) {
				logger.debug("Interrupted, which nobody should do", ex);
			}
			inVain = this.running.isEmpty() ? inVain + 1 : 0;
			this.running.removeIf(Running::hasEnded);
			this.running.forEach((one) -> one.cancelIfLate(System.nanoTime()));
		}
	}

	// one may have begun while this thread was still taken to be looking
	private boolean goesOn() {
		this.looking.set(false);
		return !this.running.isEmpty() && this.looking.compareAndSet(false, true);
	}

	/**
	 * A statement under way.
	 */
	public static final class Running implements AutoCloseable {

		private final long end;

		private final AtomicBoolean cancelling = new AtomicBoolean();

		// null once it has been executed
		private volatile @Nullable Statement statement;

		private Running(Statement statement, long end) {
			this.end = end;
			this.statement = statement;
		}

		private boolean hasEnded() {
			return this.statement == null;
		}

		// again with each look, since a driver ignores it while it is about to send; on
		// another thread, since a frozen server answers no cancellation
		private void cancelIfLate(long now) {
			if (now - this.end >= 0 && this.cancelling.compareAndSet(false, true)
					&& !start(this::cancel, "fencing-statement-cancel")) {
				this.cancelling.set(false);
			}
		}

		private synchronized void cancel() {
			Statement late = this.statement;
			try {
				if (late != null) {
					late.cancel();
				}
			}
			catch (SQLException | RuntimeException ex) {
				logger.debug("A statement that takes too long cannot be cancelled", ex);
			}
			finally {
				this.cancelling.set(false);
			}
		}

		/**
		 * The statement has been executed. Waits while it is being cancelled, which would
		 * hit the next one of its connection.
		 */
		@Override
		public synchronized void close() {
			this.statement = null;
		}

	}

}
