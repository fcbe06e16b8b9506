package io.fencing.adversarial;

import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingException;
import io.fencing.OperationTransaction;
import io.fencing.OutcomeUnknownException;
import io.fencing.adversarial.Deposit.Kind;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Makes deposits by way of the starter: reads a balance, leaves a row, writes an absolute
 * balance. No two runs of a body have the same answer. Thread-safe.
 */
final class Deposits {

	private static final OperationTransaction TRANSACTION = new OperationTransaction(null, -1, -1,
			(thrown) -> !(thrown instanceof CommittedFailure));

	private final FencedOperations operations;

	private final JdbcOperations jdbc;

	private final Consumer<Deposit> running;

	private final AtomicInteger unknown = new AtomicInteger();

	/**
	 * Create an instance.
	 * @param node has the starter
	 * @param running told whenever a body runs
	 */
	Deposits(ApplicationContext node, Consumer<Deposit> running) {
		this.operations = node.getBean(FencedOperations.class);
		this.jdbc = node.getBean(JdbcTemplate.class);
		this.running = running;
	}

	/**
	 * Call with the same identity until there is an answer.
	 * @param deposit the deposit
	 * @param random decides whether a body fails
	 * @return the answer
	 */
	String callUntilAnswered(Deposit deposit, Random random) {
		while (true) {
			try {
				return call(deposit, random);
			}
			catch (OutcomeUnknownException | RepeatableFailure | ConcurrencyFailureException ex) {
				// says that it may be called again
			}
			catch (FencingException ex) {
				if (!ex.isRetryable()) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Call once.
	 * @param deposit the deposit
	 * @param random decides whether the body fails
	 * @return the answer
	 */
	String call(Deposit deposit, Random random) {
		boolean fails = deposit.kind() == Kind.REPEATABLE && random.nextBoolean();
		return call(deposit, false, null, () -> {
			if (fails) {
				throw new RepeatableFailure();
			}
		});
	}

	/**
	 * Call once.
	 * @param deposit the deposit
	 * @param external whether to say that it has effects elsewhere
	 * @param leaseTime how long its lease lasts, {@code null} for the usual time
	 * @param afterWork runs in the body, when its work is done
	 * @return the answer, whether it is a result or an exception
	 */
	String call(Deposit deposit, boolean external, @Nullable Duration leaseTime, Runnable afterWork) {
		FencedOperationRequest request = FencedOperationRequest.builder("deposit")
			.resource("account:" + deposit.account())
			.operationId(deposit.id())
			.input(deposit.toString())
			.resultType(String.class)
			.external(external)
			.leaseTime(leaseTime)
			.notRepeatableFor(Set.of(RefusedFailure.class))
			.transaction(TRANSACTION)
			.build();
		try {
			return "receipt " + this.operations.call(request, () -> body(deposit, afterWork));
		}
		catch (RefusedFailure | CommittedFailure ex) {
			return ex.getClass().getSimpleName() + " " + ex.getMessage();
		}
		catch (OutcomeUnknownException ex) {
			this.unknown.incrementAndGet();
			throw ex;
		}
	}

	private String body(Deposit deposit, Runnable afterWork) {
		this.running.accept(deposit);
		String answer = UUID.randomUUID().toString();
		Long balance = this.jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class,
				deposit.account());
		this.jdbc.update("INSERT INTO effect VALUES (?)", deposit.id());
		this.jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance + 1, deposit.account());
		afterWork.run();
		if (deposit.kind() == Kind.REFUSED) {
			throw new RefusedFailure(answer);
		}
		if (deposit.kind() == Kind.COMMITTED) {
			throw new CommittedFailure(answer);
		}
		return answer;
	}

	/**
	 * How many calls have ended without anybody knowing how.
	 */
	int getUnknown() {
		return this.unknown.get();
	}

	/**
	 * The next call may succeed.
	 */
	static final class RepeatableFailure extends RuntimeException {

	}

	/**
	 * Rolled back, and final.
	 */
	static final class RefusedFailure extends RuntimeException {

		RefusedFailure(String message) {
			super(message);
		}

	}

	/**
	 * Committed all the same.
	 */
	static final class CommittedFailure extends RuntimeException {

		CommittedFailure(String message) {
			super(message);
		}

	}

}
