package io.fencing.adversarial;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.fencing.FencedOperationRequest;

import org.springframework.transaction.TransactionStatus;

/**
 * One attempt at a transaction shape, on two of the accounts, with pauses wherever
 * somebody else may come in between.
 */
final class ShapeAttempt {

	private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

	// shorter than a lease: who comes next takes over while the one before is at work,
	// and
	// does not sleep until its lease would have ended
	private static final Duration WAIT = Duration.ofMillis(100);

	private final ShapesNode node;

	private final Random random;

	private final String first;

	private final String second;

	private final Map<String, Long> acknowledged = new HashMap<>();

	ShapeAttempt(ShapesNode node, List<String> accounts, Random random) {
		this.node = node;
		this.random = random;
		int index = random.nextInt(accounts.size());
		this.first = accounts.get(index);
		this.second = accounts.get((index + 1 + random.nextInt(accounts.size() - 1)) % accounts.size());
	}

	String first() {
		return this.first;
	}

	String second() {
		return this.second;
	}

	void fenced(Runnable body, String... accounts) {
		call(FencedOperationRequest.builder("shape"), body, accounts);
	}

	void fencedOutsideOfTransaction(Runnable body, String... accounts) {
		call(FencedOperationRequest.builder("shape").ownTransaction(true), body, accounts);
	}

	private void call(FencedOperationRequest.Builder request, Runnable body, String... accounts) {
		request.waitTime(WAIT);
		for (String account : accounts) {
			request.resource(resource(account));
		}
		this.node.operations().call(request.build(), () -> {
			body.run();
			return null;
		});
	}

	static String resource(String account) {
		return "account:" + account;
	}

	void inTransaction(Consumer<TransactionStatus> body) {
		this.node.required().executeWithoutResult(body);
	}

	void inNewTransaction(Consumer<TransactionStatus> body) {
		this.node.requiresNew().executeWithoutResult(body);
	}

	void inNestedTransaction(Consumer<TransactionStatus> body) {
		this.node.nested().executeWithoutResult(body);
	}

	long read(String account) {
		return this.node.ledger().read(account);
	}

	void write(String account, long balance) {
		this.node.ledger().write(account, balance);
	}

	/**
	 * Read, and later write an absolute value: a change in between is lost.
	 */
	void add(String account, long amount) {
		long balance = read(account);
		pause();
		write(account, balance + amount);
	}

	void pause() {
		LockSupport.parkNanos((long) (this.random.nextDouble() * LONGEST_PAUSE_NANOS));
	}

	/**
	 * Note a change that counts from now on, whatever becomes of the rest.
	 */
	void acknowledge(String account, long amount) {
		this.acknowledged.merge(account, amount, Long::sum);
	}

	Map<String, Long> getAcknowledged() {
		return this.acknowledged;
	}

}
