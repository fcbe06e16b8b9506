package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.time.Duration;
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

	private final LabAccounts fenced;

	private final LabAccounts undecorated;

	StaleWriteLab(LabWorker worker, LabAccounts fenced, LabAccounts undecorated) {
		this.worker = worker;
		this.fenced = fenced;
		this.undecorated = undecorated;
	}

	/**
	 * Run it, on a new account.
	 * @param fencing whether the workers write by way of the application's decorated
	 * template, or by an undecorated one; they have leases either way
	 * @param pausePoint where A is held up
	 * @return what was seen
	 * @throws InterruptedException if the thread is interrupted
	 */
	LabReport run(boolean fencing, PausePoint pausePoint) throws InterruptedException {
		String account = "lab-" + UUID.randomUUID();
		this.undecorated.open(account, INITIAL);
		Timeline timeline = new Timeline();
		LabDeposit depositA = new LabDeposit("A", account, AMOUNT_A, pausePoint, timeline);
		LabDeposit depositB = new LabDeposit("B", account, AMOUNT_B, PausePoint.NONE, timeline);
		LabAccounts accounts = fencing ? this.fenced : this.undecorated;

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
		BigDecimal found = this.undecorated.read(account);
		return new LabReport(fencing, account, timeline.getEntries(), reportA, reportB, INITIAL, expected, found,
				found.compareTo(expected) != 0);
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
