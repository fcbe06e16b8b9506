package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.fencing.LossReason;
import io.fencing.lease.LeaseManager.LeaseTerms;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all leases of this JVM: one thread has them renewed in batches when a third of
 * their time has passed, and notices when one is lost. Thread-safe.
 *
 * <p>
 * The thread has no queue: it looks through the leases that there are, and sleeps until
 * the first of them needs it. So a lease that was given back leaves nothing behind. It
 * does not wait for the coordinator ({@link BatchRenewer} does), and no failure ends it,
 * since the leases of the whole application hang on it.
 */
final class Watchdog {

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	private static final long PAUSE_AFTER_FAILURE = TimeUnit.MILLISECONDS.toNanos(50);

	private final ConcurrentMap<Lease, WatchedLease> watched = new ConcurrentHashMap<>();

	private final LossReporter losses;

	private final MonotonicClock clock;

	private final BatchRenewer renewer;

	private final Thread thread = new Thread(this::run, "fencing-watchdog");

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition emptied = this.lock.newCondition();

	private final AtomicInteger calls = new AtomicInteger();

	private volatile long wakeAt;

	private volatile boolean stopping;

	private volatile boolean stopped;

	private volatile boolean closed;

	/**
	 * Create a watchdog, not started.
	 * @param coordinator the coordinator
	 * @param losses where losses are reported
	 * @param clock the clock
	 * @param commandTimeout the longest time to wait for the answers to a batch
	 */
	Watchdog(LeaseCoordinator coordinator, LossReporter losses, MonotonicClock clock, Duration commandTimeout) {
		this.losses = losses;
		this.clock = clock;
		this.renewer = new BatchRenewer(coordinator, clock, commandTimeout, this::settled);
		this.wakeAt = clock.nanoTime() + WatchedLease.NEVER;
		this.thread.setDaemon(true);
	}

	/**
	 * Start the thread.
	 */
	void start() {
		this.thread.start();
	}

	/**
	 * Keep a lease.
	 * @param lease the lease
	 * @param terms the terms that it was acquired on
	 * @return whether it may be worked with, {@code false} after a stop
	 */
	boolean watch(Lease lease, LeaseTerms terms) {
		WatchedLease entry = new WatchedLease(lease, terms, this.clock);
		this.watched.put(lease, entry);
		wakeFor(entry);
		return !this.stopped;
	}

	/**
	 * Stop keeping a lease. Nothing is sent for it from now on, and a renewal in flight
	 * changes nothing any more.
	 * @param lease the lease
	 * @return the terms that it was acquired on, for the first caller only
	 */
	@Nullable LeaseTerms unwatch(Lease lease) {
		WatchedLease entry = this.watched.remove(lease);
		if (entry == null) {
			return null;
		}
		entry.giveBack();
		this.losses.reportIfLost(lease);
		signalIfIdle();
		return entry.getTerms();
	}

	/**
	 * Note that a call that acquires or gives back has begun. A stop waits for its end,
	 * so that clients are not closed under it.
	 */
	void beginCall() {
		this.calls.incrementAndGet();
	}

	/**
	 * Note that such a call has ended.
	 */
	void endCall() {
		this.calls.decrementAndGet();
		signalIfIdle();
	}

	/**
	 * How many leases are kept.
	 * @return those acquired and not given back
	 */
	int size() {
		return this.watched.size();
	}

	/**
	 * Wait until all leases are given back, then lose those that are not. What comes
	 * later must be given back at once.
	 * @param grace the longest time to wait
	 * @return whether all were given back in time
	 */
	boolean stop(Duration grace) {
		this.stopping = true;
		boolean empty = awaitEmpty(grace);
		this.stopped = true;
		for (Lease lease : this.watched.keySet()) {
			lease.lose(LossReason.SHUTDOWN);
			this.losses.reportIfLost(lease);
		}
		return empty;
	}

	/**
	 * Keep leases again after a stop.
	 */
	void resume() {
		this.stopping = false;
		this.stopped = false;
	}

	/**
	 * End the threads.
	 */
	void close() {
		this.closed = true;
		this.renewer.stop();
		LockSupport.unpark(this.thread);
	}

	private boolean awaitEmpty(Duration grace) {
		this.lock.lock();
		try {
			long left = grace.toNanos();
			while (!isIdle() && left > 0) {
				left = this.emptied.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.lock.unlock();
		}
		return this.watched.isEmpty();
	}

	private boolean isIdle() {
		return this.calls.get() == 0 && this.watched.isEmpty();
	}

	private void signalIfIdle() {
		if (!this.stopping || !isIdle()) {
			return;
		}
		this.lock.lock();
		try {
			this.emptied.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void run() {
		while (!this.closed) {
			long pause = PAUSE_AFTER_FAILURE;
			try {
				pause = look();
			}
			catch (Throwable ex) {
				report(ex);
			}
			LockSupport.parkNanos(this, pause);
		}
	}

	/**
	 * Look at every lease: report losses, have renewed what is due.
	 * @return after how many nanoseconds to look again
	 */
	long look() {
		// whoever adds a lease while this goes on wakes the thread once more
		this.wakeAt = this.clock.nanoTime() + WatchedLease.NEVER;
		List<WatchedLease> due = new ArrayList<>();
		long next = WatchedLease.NEVER;
		for (WatchedLease entry : this.watched.values()) {
			next = Math.min(next, look(entry, due));
		}
		long now = this.clock.nanoTime();
		this.wakeAt = now + next;
		this.renewer.renew(due);
		return next - (this.clock.nanoTime() - now);
	}

	private long look(WatchedLease entry, List<WatchedLease> due) {
		try {
			entry.enforceMaxHold();
			this.losses.reportIfLost(entry.getLease());
			if (entry.startRenewal()) {
				due.add(entry);
			}
			return entry.untilNextLook();
		}
		catch (Throwable ex) {
			// one lease must not cost the others theirs
			report(ex);
			return PAUSE_AFTER_FAILURE;
		}
	}

	private void settled(WatchedLease entry) {
		if (!entry.isGivenBack()) {
			this.losses.reportIfLost(entry.getLease());
			wakeFor(entry);
		}
	}

	private void wakeFor(WatchedLease entry) {
		if (this.clock.nanoTime() + entry.untilNextLook() - this.wakeAt < 0) {
			LockSupport.unpark(this.thread);
		}
	}

	private static void report(Throwable failure) {
		try {
			logger.error("The watchdog of leases failed and goes on; if this repeats, report it", failure);
		}
		catch (Throwable ex) {
			// not even logging works: keep the thread, it is what matters
		}
	}

}
