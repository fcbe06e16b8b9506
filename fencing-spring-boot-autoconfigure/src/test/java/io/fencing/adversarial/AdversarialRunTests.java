package io.fencing.adversarial;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.fencing.testing.ForkedJvm;
import io.fencing.testing.Freezer;
import io.fencing.testing.History;
import io.fencing.testing.History.Operation;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs of eight threads add one to the same counter, reading in one transaction and
 * writing an absolute value in another, under leases of 300 ms, while some are held up
 * for longer and whole JVMs are frozen at random. What was acknowledged is in the value;
 * without the fence it is not.
 *
 * <p>
 * One run is 100 operations. With {@code -Dfencing.faults} runs follow one another for
 * {@code fencing.faults.seconds}, 60 by default; {@code fencing.faults.seed} repeats the
 * decisions of a run.
 */
@Tag("faults")
class AdversarialRunTests {

	private static final int OPERATIONS = 100;

	// what goes wrong is drawn by chance: a run in which nothing did is followed by
	// another
	private static final int MOST_RUNS = 5;

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private static CounterStorage database;

	private static List<ForkedJvm> workers = List.of();

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		database = CounterStorage.undecorated(new DriverManagerDataSource(url));
		database.createTable();
		String[] properties = { "--spring.datasource.url=" + url, "--spring.data.redis.url=" + TestServers.redisUrl(),
				"--fencing.lease.time=" + CounterLoad.LEASE.toMillis() + "ms", "--fencing.lease.wait=10s" };
		workers = Stream.of("A", "B").map((name) -> ForkedJvm.start(name, CounterLoad.class, properties)).toList();
		workers.forEach((worker) -> worker.await("READY"));
	}

	@AfterAll
	static void stop() {
		workers.forEach(ForkedJvm::close);
	}

	@Test
	void whenFencedThenValueIsWhatWasAcknowledged() {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		long seed = FaultsProperties.seed();
		int runs = 0;
		long lostLeases = 0;
		long stale = 0;
		do {
			Run run = new Run("fencedStorage", "fenced-" + runs, seed + runs);
			assertThat(run.history.getViolations(0, run.value)).as(run.text).isEmpty();
			assertThat(run.history.size()).as(run.text).isEqualTo(OPERATIONS);
			assertThat(run.value).as(run.text).isEqualTo(OPERATIONS);
			lostLeases += run.lostLeases;
			stale += run.stale;
			runs++;
		}
		while (System.nanoTime() - end < 0 || ((lostLeases == 0 || stale == 0) && runs < MOST_RUNS));
		assertThat(lostLeases).as("lost leases").isPositive();
		assertThat(stale).as("tokens refused by the database").isPositive();
	}

	@Test
	void whenNotFencedThenAcknowledgedUpdatesAreLost() {
		long seed = FaultsProperties.seed();
		int runs = 0;
		Run run;
		do {
			run = new Run("undecoratedStorage", "undecorated-" + runs, seed + runs);
			assertThat(run.history.size()).as(run.text).isEqualTo(OPERATIONS);
			runs++;
		}
		while (run.value == OPERATIONS && runs < MOST_RUNS);
		assertThat(run.value).as(run.text).isLessThan(OPERATIONS);
		assertThat(run.history.getViolations(0, run.value)).as(run.text).isNotEmpty();
	}

	/**
	 * One run of all workers.
	 */
	private static final class Run {

		private final History history = new History();

		private final long value;

		private final String text;

		private long lostLeases;

		private long stale;

		private long refusedLocally;

		private long repeated;

		Run(String storage, String id, long seed) {
			System.out.println("Run '" + id + "' with seed " + seed);
			database.create(id);
			int share = OPERATIONS / workers.size();
			int freezes;
			try (Freezer freezer = Freezer.start(seed, workers, CounterLoad.LEASE.multipliedBy(2),
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
			this.text = "Run '" + id + "', seed " + seed + ": value " + this.value + ", acknowledged "
					+ this.history.size() + ", repeated " + this.repeated + ", lost leases " + this.lostLeases
					+ ", LeaseLostExceptions " + this.refusedLocally + ", StaleTokenExceptions of the database "
					+ this.stale + ", freezes " + freezes;
			System.out.println(this.text);
		}

		private void add(String counts) {
			String[] parts = counts.split(" ");
			this.lostLeases += Long.parseLong(parts[0]);
			this.stale += Long.parseLong(parts[1]);
			this.refusedLocally += Long.parseLong(parts[2]);
			this.repeated += Long.parseLong(parts[3]);
		}

	}

}
