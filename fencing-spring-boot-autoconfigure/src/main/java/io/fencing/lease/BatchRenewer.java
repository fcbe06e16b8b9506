package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.lease.LeaseCoordinator.Renewals;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends renewals in batches, on a few threads of its own, so that one master that hangs
 * does not end the leases on others; what finds no thread waits for one, and nobody waits
 * with it. A failure of any kind ends nothing: the renewal is tried again. Thread-safe.
 */
final class BatchRenewer {

	private static final Logger logger = LoggerFactory.getLogger(BatchRenewer.class);

	private static final int MAX_BATCH = 500;

	private static final int MAX_BATCHES_IN_FLIGHT = 4;

	private static final Renewals NO_ANSWERS = new Renewals(Set.of(), Set.of());

	private final LeaseCoordinator coordinator;

	private final MonotonicClock clock;

	private final Duration commandTimeout;

	private final Consumer<WatchedLease> settled;

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(MAX_BATCHES_IN_FLIGHT, MAX_BATCHES_IN_FLIGHT, 10,
			TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new DaemonThreads("fencing-renewal-"),
			new ThreadPoolExecutor.DiscardPolicy());

	/**
	 * Create a renewer.
	 * @param coordinator the coordinator
	 * @param clock the clock
	 * @param commandTimeout the longest time to wait for the answers to a batch
	 * @param settled told of each lease whose renewal has ended, well or not
	 */
	BatchRenewer(LeaseCoordinator coordinator, MonotonicClock clock, Duration commandTimeout,
			Consumer<WatchedLease> settled) {
		this.coordinator = coordinator;
		this.clock = clock;
		this.commandTimeout = commandTimeout;
		this.settled = settled;
		this.threads.allowCoreThreadTimeOut(true);
	}

	/**
	 * Renew leases whose renewal has been started, without waiting for the answers.
	 * @param due the leases
	 */
	void renew(List<WatchedLease> due) {
		// those in a hurry together, since the first of a batch sets its time-out
		due.sort(Comparator.comparing(WatchedLease::getRenewalPeriod));
		for (int from = 0; from < due.size(); from += MAX_BATCH) {
			List<WatchedLease> batch = due.subList(from, Math.min(from + MAX_BATCH, due.size()));
			try {
				this.threads.execute(() -> renewBatch(batch));
			}
			catch (Throwable ex) {
				// no thread to be had
				report(ex);
				batch.forEach(WatchedLease::postpone);
			}
		}
	}

	/**
	 * Send nothing more.
	 */
	void stop() {
		this.threads.shutdown();
	}

	private void renewBatch(List<WatchedLease> batch) {
		long sentAt = this.clock.nanoTime();
		Renewals answers = NO_ANSWERS;
		try {
			answers = send(batch);
		}
		catch (Throwable ex) {
			report(ex);
		}
		for (WatchedLease entry : batch) {
			settle(entry, sentAt, answers);
		}
	}

	private Renewals send(List<WatchedLease> batch) {
		List<Lease> leases = new ArrayList<>();
		for (WatchedLease entry : batch) {
			// while it waited for a thread it may have come to its end
			if (!entry.isGivenBack() && !entry.getLease().isLost()) {
				leases.add(entry.getLease());
			}
		}
		if (leases.isEmpty()) {
			return NO_ANSWERS;
		}
		Duration period = batch.get(0).getRenewalPeriod();
		Duration timeout = (period.compareTo(this.commandTimeout) < 0) ? period : this.commandTimeout;
		Renewals answers = this.coordinator.renew(leases, timeout);
		logger.debug("Renewed {} of {} leases, {} were refused", answers.renewed().size(), leases.size(),
				answers.refused().size());
		return answers;
	}

	private void settle(WatchedLease entry, long sentAt, Renewals answers) {
		if (answers.renewed().contains(entry.getLease())) {
			entry.confirm(sentAt);
		}
		else if (answers.refused().contains(entry.getLease())) {
			entry.refuse();
		}
		else {
			entry.postpone();
		}
		try {
			this.settled.accept(entry);
		}
		catch (Throwable ex) {
			report(ex);
		}
	}

	private static void report(Throwable failure) {
		if (failure instanceof CoordinatorUnavailableException) {
			logger.debug("A batch of renewals was not answered and is tried again", failure);
		}
		else {
			logger.warn("Renewing leases failed and is tried again; if this repeats, report it", failure);
		}
	}

}
