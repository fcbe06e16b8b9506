package io.fencing.adversarial;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.fencing.AdmissionTimeoutException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.StaleTokenException;

import org.springframework.dao.PessimisticLockingFailureException;

/**
 * What has become of all attempts. Thread-safe.
 */
final class ShapesTally {

	// nothing of the attempt was applied. The one that is not ours: the database has
	// rolled back the victim of a lock conflict
	private static final Set<Class<? extends Exception>> REFUSALS = Set.of(LeaseNotAcquiredException.class,
			LeaseLostException.class, StaleTokenException.class, AdmissionTimeoutException.class,
			CoordinatorUnavailableException.class, PessimisticLockingFailureException.class);

	private final Map<String, Long> balances = new TreeMap<>();

	private final Map<TransactionShape, Map<String, Integer>> outcomes = new EnumMap<>(TransactionShape.class);

	private final Queue<Throwable> violations = new ConcurrentLinkedQueue<>();

	private int refused;

	ShapesTally(List<String> accounts) {
		accounts.forEach((account) -> this.balances.put(account, 0L));
	}

	synchronized void acknowledged(Map<String, Long> changes) {
		changes.forEach((account, amount) -> this.balances.merge(account, amount, Long::sum));
	}

	synchronized void succeeded(TransactionShape shape) {
		add(shape, "ok");
	}

	synchronized void failed(TransactionShape shape, Throwable ex) {
		add(shape, ex.getClass().getSimpleName());
		this.refused++;
		if (REFUSALS.stream().noneMatch((refusal) -> refusal.isInstance(ex))) {
			this.violations.add(ex);
		}
	}

	private void add(TransactionShape shape, String outcome) {
		this.outcomes.computeIfAbsent(shape, (key) -> new TreeMap<>()).merge(outcome, 1, Integer::sum);
	}

	void violated(AssertionError ex) {
		this.violations.add(ex);
	}

	/**
	 * Whether every shape has succeeded, and something was refused.
	 */
	synchronized boolean hasSeenEverything() {
		return this.refused > 0 && this.outcomes.size() == TransactionShape.values().length
				&& this.outcomes.values().stream().allMatch((outcome) -> outcome.containsKey("ok"));
	}

	synchronized Map<String, Long> getBalances() {
		return new TreeMap<>(this.balances);
	}

	/**
	 * Failures that no caller can expect, and what was left behind.
	 */
	Queue<Throwable> getViolations() {
		return this.violations;
	}

	@Override
	public synchronized String toString() {
		StringBuilder text = new StringBuilder("acknowledged " + this.balances + ", outcomes");
		this.outcomes.forEach((shape, outcome) -> text.append("\n  ").append(shape).append(' ').append(outcome));
		return text.toString();
	}

}
