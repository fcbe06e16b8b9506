package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Has worker A held up until worker B has taken over and is done, then lets A go on with
 * what it read before.
 */
class StaleWriteLab {

	private static final BigDecimal INITIAL = new BigDecimal("100.00");

	private static final BigDecimal AMOUNT_A = new BigDecimal("10.00");

	private static final BigDecimal AMOUNT_B = new BigDecimal("5.00");

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final LabWorker worker;

	private final Map<String, LabStorage> storages;

	StaleWriteLab(LabWorker worker, Map<String, LabStorage> storages) {
		this.worker = worker;
		this.storages = storages;
	}

	Set<String> getStorages() {
		return this.storages.keySet();
	}

	/**
	 * Run it, on a new account.
	 * @param storage where the account is kept, one of {@link #getStorages()}
	 * @param fencing whether the workers write by way of what the application decorates,
	 * or of something undecorated; they have leases either way
	 * @param pausePoint where A is held up
	 * @return what was seen
	 * @throws InterruptedException if the thread is interrupted
	 */
	LabReport run(String storage, boolean fencing, PausePoint pausePoint) throws InterruptedException {
		String account = "lab-" + UUID.randomUUID();
		LabStorage kept = Objects.requireNonNull(this.storages.get(storage));
		kept.undecorated().open(account, INITIAL);
		Timeline timeline = new Timeline();
		LabDeposit depositA = new LabDeposit("A", account, AMOUNT_A, pausePoint, timeline);
		LabDeposit depositB = new LabDeposit("B", account, AMOUNT_B, PausePoint.NONE, timeline);
		LabAccounts accounts = kept.way(fencing);

		FutureTask<WorkerReport> a = start(depositA, accounts);
		WorkerReport reportB;
		try {
			depositA.getPause().awaitReached();
			reportB = await(start(depositB, accounts));
		}
		finally {
			depositA.getPause().end();
		}
		WorkerReport reportA = await(a);

		BigDecimal expected = Stream.of(reportA, reportB)
			.map(WorkerReport::acknowledged)
			.reduce(INITIAL, BigDecimal::add);
		BigDecimal found = kept.undecorated().read(account);
		return new LabReport(fencing, storage, account, timeline.getEntries(), reportA, reportB, INITIAL, expected,
				found, found.compareTo(expected) != 0);
	}

	private FutureTask<WorkerReport> start(LabDeposit deposit, LabAccounts accounts) {
		FutureTask<WorkerReport> task = new FutureTask<>(() -> work(deposit, accounts));
		Thread thread = new Thread(task, "lab-worker");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	private WorkerReport work(LabDeposit deposit, LabAccounts accounts) {
		try {
			this.worker.deposit(deposit, accounts);
			return WorkerReport.acknowledged(deposit);
		}
		catch (RuntimeException ex) {
			WorkerReport report = WorkerReport.failed(deposit, ex);
			deposit.note("ends with " + report.error());
			return report;
		}
		finally {
			deposit.getPause().end();
		}
	}

	private static WorkerReport await(FutureTask<WorkerReport> task) throws InterruptedException {
		try {
			return task.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new IllegalStateException("A worker of the lab did not end", ex);
		}
	}

}
