package io.fencing.fence.jdbc;

import java.util.List;
import java.util.concurrent.Callable;

import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * One worker of a scenario: enters an operation, reads in one step and writes what it
 * read plus one in another, so that something can happen in between.
 */
final class Worker {

	private final Fence fence;

	private final JdbcTemplate jdbc;

	private TransactionTemplate transaction;

	private @Nullable OperationContext context;

	private int seen;

	private int acknowledged;

	Worker(Fence fence, JdbcTemplate jdbc, TransactionTemplate transaction) {
		this.fence = fence;
		this.jdbc = jdbc;
		this.transaction = transaction;
	}

	void enter(TestHeld... held) {
		enter(null, held);
	}

	void enter(@Nullable Worker around, TestHeld... held) {
		OperationContext entered = new OperationContext("withdraw", List.of(held),
				(around != null) ? around.context : null);
		if (succeeds(() -> {
			this.fence.claim(entered);
			return true;
		})) {
			this.context = entered;
		}
	}

	/** Goes on with another worker's operation in transactions of another kind. */
	void enterAs(Worker other, TransactionTemplate transaction) {
		this.context = other.context;
		this.seen = other.seen;
		this.transaction = transaction;
	}

	void read() {
		step(() -> {
			this.seen = FencedDatabase.read(this.jdbc);
			return true;
		});
	}

	void write() {
		write(() -> {
		});
	}

	/** Something happens in the transaction before the write is sent. */
	void write(Runnable before) {
		boolean written = step(() -> this.transaction.execute((status) -> {
			before.run();
			return this.jdbc.update("UPDATE account SET balance = ? WHERE id = 'a'", this.seen + 1) == 1;
		}));
		this.acknowledged += written ? 1 : 0;
	}

	void writeSwallowing() {
		boolean written = step(() -> this.transaction.execute((status) -> {
			try {
				this.jdbc.update("UPDATE account SET balance = ? WHERE id = 'a'", this.seen + 1);
			}
			catch (RuntimeException ex) {
				status.setRollbackOnly();
			}
			return true;
		}));
		this.acknowledged += written ? 1 : 0;
	}

	boolean step(Callable<Boolean> step) {
		OperationContext current = this.context;
		return current != null && succeeds(() -> Operations.in(current, step));
	}

	private static boolean succeeds(Callable<Boolean> step) {
		try {
			return step.call();
		}
		catch (Exception ex) {
			return false;
		}
	}

	int getAcknowledged() {
		return this.acknowledged;
	}

}
