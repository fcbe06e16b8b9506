package io.fencing.adversarial;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.fencing.adversarial.LedgerLoad.Outcome;
import io.fencing.testing.ForkedJvm;

/**
 * What is known of a run of {@link LedgerLoad} in some JVMs: the calls as their callers
 * saw them, and the ledgers as they are in the storage. For one thread.
 */
final class LedgerRun {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final List<ForkedJvm> workers;

	private final List<String> accounts;

	private final Function<String, List<LedgerEntry>> storage;

	private final Map<String, List<LedgerEntry>> ledgers = new HashMap<>();

	private final Map<String, Set<String>> violations = new TreeMap<>();

	private final Map<Outcome, Integer> counts = new TreeMap<>();

	private int lostLeases;

	private long slowestProgress;

	/**
	 * Create a run.
	 * @param workers the JVMs
	 * @param accounts the accounts that they add to
	 * @param storage reads the ledger of an account, {@code null} if it cannot be read at
	 * the moment
	 */
	LedgerRun(List<ForkedJvm> workers, List<String> accounts, Function<String, List<LedgerEntry>> storage) {
		this.workers = workers;
		this.accounts = accounts;
		this.storage = storage;
	}

	void start(long seed) {
		for (int i = 0; i < this.workers.size(); i++) {
			this.workers.get(i).send("RUN " + (seed + 100 * i) + " " + String.join(",", this.accounts));
		}
	}

	private void look() {
		for (String account : this.accounts) {
			List<LedgerEntry> entries = this.storage.apply(account);
			if (entries != null) {
				this.ledgers.put(account, entries);
				LedgerEntry before = LedgerEntry.NONE;
				for (LedgerEntry entry : entries) {
					this.violations.computeIfAbsent(account, (key) -> new TreeSet<>())
						.addAll(entry.getViolationsAfter(before));
					before = entry;
				}
			}
		}
	}

	/**
	 * Look at the ledgers, and let the workers know that somebody is still there.
	 */
	void goOn() {
		this.workers.forEach((worker) -> worker.send("GO"));
		look();
	}

	/**
	 * Let the workers end what they do, then let each of them add to every account, and
	 * look at the ledgers.
	 */
	void stop() {
		this.workers.forEach((worker) -> worker.send("STOP"));
		for (ForkedJvm worker : this.workers) {
			this.lostLeases += Integer.parseInt(worker.await("DONE", LIMIT));
			worker.send("PROGRESS " + String.join(",", this.accounts));
			this.slowestProgress = Math.max(this.slowestProgress, Long.parseLong(worker.await("PROGRESS", LIMIT)));
			worker.take("COUNT").forEach((line) -> {
				String[] parts = line.split(" ");
				this.counts.merge(Outcome.valueOf(parts[0]), Integer.parseInt(parts[1]), Integer::sum);
			});
		}
		look();
	}

	/**
	 * The calls of one kind on accounts that a fence protects.
	 * @param kind the kind
	 * @return their ids
	 */
	Set<String> calls(String kind) {
		Set<String> ids = new HashSet<>();
		for (ForkedJvm worker : this.workers) {
			worker.take(kind)
				.stream()
				.map((line) -> line.split(" "))
				.filter((parts) -> !parts[0].equals(LedgerLoad.NAIVE))
				.forEach((parts) -> ids.add(parts[1]));
		}
		return ids;
	}

	/**
	 * What is in the ledgers of accounts that a fence protects, at the end.
	 * @return the ids of the entries
	 */
	Set<String> entries() {
		Set<String> ids = new HashSet<>();
		fenced().forEach((account) -> this.ledgers.get(account).forEach((entry) -> ids.add(entry.id())));
		return ids;
	}

	/**
	 * What was wrong with the ledgers of accounts that a fence protects at any look.
	 * @return one sentence for each violation
	 */
	List<String> violations() {
		return fenced().flatMap((account) -> this.violations.getOrDefault(account, Set.of()).stream()).toList();
	}

	/**
	 * What was wrong with the ledger of the account that no fence protects.
	 * @return one sentence for each violation
	 */
	Set<String> violationsOfNaive() {
		return this.violations.getOrDefault(LedgerLoad.NAIVE, Set.of());
	}

	private Stream<String> fenced() {
		return this.accounts.stream().filter(Predicate.not(LedgerLoad.NAIVE::equals));
	}

	/**
	 * How many calls ended in one of some ways.
	 * @param outcomes the ways
	 * @return the number
	 */
	int count(Outcome... outcomes) {
		return Stream.of(outcomes).mapToInt((outcome) -> this.counts.getOrDefault(outcome, 0)).sum();
	}

	@Override
	public String toString() {
		return "calls " + this.counts + ", lost leases " + this.lostLeases + ", violations without the fence "
				+ violationsOfNaive().size() + ", all accounts added to again in " + this.slowestProgress + " ms";
	}

}
