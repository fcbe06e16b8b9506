package io.fencing.adversarial;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import io.fencing.testing.ForkedJvm;
import io.fencing.testing.Freezer;
import io.fencing.testing.History;
import io.fencing.testing.History.Operation;

/**
 * One run of JVMs that all add one to the same counter, while they are frozen at random.
 */
final class CounterRun {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private final History history = new History();

	private final long value;

	private final String text;

	private long lostLeases;

	private long stale;

	private long refusedLocally;

	private long repeated;

	private long unknown;

	/**
	 * Run it, to its end.
	 * @param database where the counter is, by no fence
	 * @param workers the JVMs, each running {@link CounterLoad}
	 * @param operations how many operations they do together
	 * @param storage the name of the storage that the workers use
	 * @param id the id of the counter
	 * @param seed what their decisions follow from
	 */
	CounterRun(CounterStorage database, List<ForkedJvm> workers, int operations, String storage, String id, long seed) {
		this(database, workers, operations, storage, id, seed, () -> () -> {
		});
	}

	/**
	 * Run it, to its end, with one more trouble while the workers work.
	 * @param database where the counter is, by no fence
	 * @param workers the JVMs, each running {@link CounterLoad}
	 * @param operations how many operations they do together
	 * @param storage the name of the storage that the workers use
	 * @param id the id of the counter
	 * @param seed what their decisions follow from
	 * @param trouble begins the trouble
	 */
	CounterRun(CounterStorage database, List<ForkedJvm> workers, int operations, String storage, String id, long seed,
			Supplier<? extends Trouble> trouble) {
		System.out.println("Run '" + id + "' with seed " + seed);
		database.create(id);
		int share = operations / workers.size();
		int freezes;
		try (Trouble more = trouble.get();
				Freezer freezer = Freezer.start(seed, workers, CounterLoad.LEASE.multipliedBy(2),
						CounterLoad.LEASE.multipliedBy(3))) {
			for (int i = 0; i < workers.size(); i++) {
				workers.get(i).send(storage + " " + id + " " + (seed + i) + " " + share);
			}
			workers.forEach((worker) -> add(worker.await("DONE", LIMIT)));
			freezes = freezer.getFreezes();
		}
		workers.forEach(
				(worker) -> worker.take("ACKNOWLEDGED").forEach((line) -> this.history.add(Operation.parse(line))));
		this.value = database.read(id);
		this.text = "Run '" + id + "', seed " + seed + ": value " + this.value + ", acknowledged " + this.history.size()
				+ ", repeated " + this.repeated + ", of unknown outcome " + this.unknown + ", lost leases "
				+ this.lostLeases + ", LeaseLostExceptions " + this.refusedLocally
				+ ", StaleTokenExceptions of the storage " + this.stale + ", freezes " + freezes;
		System.out.println(this.text);
	}

	private void add(String counts) {
		String[] parts = counts.split(" ");
		this.lostLeases += Long.parseLong(parts[0]);
		this.stale += Long.parseLong(parts[1]);
		this.refusedLocally += Long.parseLong(parts[2]);
		this.repeated += Long.parseLong(parts[3]);
		this.unknown += Long.parseLong(parts[4]);
	}

	History getHistory() {
		return this.history;
	}

	long getValue() {
		return this.value;
	}

	long getLostLeases() {
		return this.lostLeases;
	}

	long getStale() {
		return this.stale;
	}

	/**
	 * How many calls have failed in a way that does not tell whether they were committed.
	 */
	long getUnknown() {
		return this.unknown;
	}

	@Override
	public String toString() {
		return this.text;
	}

	/**
	 * Something that goes on until it is closed.
	 */
	@FunctionalInterface
	interface Trouble extends AutoCloseable {

		@Override
		void close();

	}

}
