package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.fencing.FencingContext;
import org.jspecify.annotations.Nullable;

/**
 * One deposit by one worker: what it is to do, where it is held up, and what is seen of
 * it. Shared by the worker and those who watch it.
 */
public final class LabDeposit {

	private static final Duration REMOTE_CALL = Duration.ofMillis(200);

	private final String worker;

	private final String account;

	private final BigDecimal amount;

	private final PausePoint pausePoint;

	private final Pause pause = new Pause();

	private final Timeline timeline;

	private volatile @Nullable FencingContext context;

	LabDeposit(String worker, String account, BigDecimal amount, PausePoint pausePoint, Timeline timeline) {
		this.worker = worker;
		this.account = account;
		this.amount = amount;
		this.pausePoint = pausePoint;
		this.timeline = timeline;
	}

	/**
	 * The account to pay into.
	 * @return the account
	 */
	public String getAccount() {
		return this.account;
	}

	BigDecimal getAmount() {
		return this.amount;
	}

	Pause getPause() {
		return this.pause;
	}

	@Nullable Long getToken() {
		FencingContext current = this.context;
		return (current != null) ? current.getToken().value() : null;
	}

	void start() {
		this.context = FencingContext.required();
		note("has the lease");
	}

	void callRemote(LabAccounts accounts) {
		long end = System.nanoTime() + REMOTE_CALL.toNanos();
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
		note("has the answer of its remote call");
		this.pausePoint.arrange(accounts, this::holdUp);
	}

	private void holdUp() {
		note("is held up, its lease " + lease());
		this.pause.hold();
		note("goes on, its lease " + lease());
	}

	private String lease() {
		FencingContext current = this.context;
		return (current == null || current.isLost()) ? "lost" : "held";
	}

	void note(String event) {
		this.timeline.add(this.worker, event, getToken());
	}

}
