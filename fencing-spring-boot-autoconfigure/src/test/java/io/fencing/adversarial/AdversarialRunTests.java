package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.fencing.testing.ForkedJvm;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs of eight threads add one to the same counter, reading in one transaction and
 * writing an absolute value in another, under leases of 300 ms, while some are held up
 * for longer and whole JVMs are frozen at random. What was acknowledged is in the value,
 * also when the database ends sessions; without the fence it is not.
 *
 * <p>
 * One run is 100 operations. With {@code -Dfencing.faults} runs follow one another for
 * {@code fencing.faults.seconds}, 60 by default; {@code fencing.faults.seed} repeats the
 * decisions of a run.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AdversarialRunTests {

	private static final int OPERATIONS = 100;

	// what goes wrong is drawn by chance: a run in which nothing did is followed by
	// another
	private static final int MOST_RUNS = 5;

	private String url = "";

	private JdbcCounterStorage database;

	private List<ForkedJvm> workers = List.of();

	/** Another database in the subclass. */
	String newUrl() {
		return TestServers.newPostgresUrl();
	}

	@BeforeAll
	void start() {
		this.url = newUrl();
		this.database = JdbcCounterStorage.undecorated(new DriverManagerDataSource(this.url));
		this.database.createTable();
		String[] properties = { "--spring.datasource.url=" + this.url,
				"--spring.data.redis.url=" + TestServers.redisUrl(),
				"--fencing.lease.time=" + CounterLoad.LEASE.toMillis() + "ms", "--fencing.lease.wait=10s" };
		this.workers = Stream.of("A", "B").map((name) -> ForkedJvm.start(name, CounterLoad.class, properties)).toList();
		this.workers.forEach((worker) -> worker.await("READY"));
	}

	@AfterAll
	void stop() {
		this.workers.forEach(ForkedJvm::close);
	}

	@Test
	void whenFencedThenValueIsWhatWasAcknowledged() {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		long seed = FaultsProperties.seed();
		int runs = 0;
		long lostLeases = 0;
		long stale = 0;
		do {
			CounterRun run = new CounterRun(this.database, this.workers, OPERATIONS, "fencedStorage", "fenced-" + runs,
					seed + runs);
			assertThat(run.getUnknown()).as(run.toString()).isZero();
			assertThat(run.getHistory().getViolations(0, run.getValue())).as(run.toString()).isEmpty();
			assertThat(run.getHistory().size()).as(run.toString()).isEqualTo(OPERATIONS);
			assertThat(run.getValue()).as(run.toString()).isEqualTo(OPERATIONS);
			lostLeases += run.getLostLeases();
			stale += run.getStale();
			runs++;
		}
		while (System.nanoTime() - end < 0 || ((lostLeases == 0 || stale == 0) && runs < MOST_RUNS));
		assertThat(lostLeases).as("lost leases").isPositive();
		assertThat(stale).as("tokens refused by the database").isPositive();
	}

	@Test
	void whenSessionsOfTheDatabaseAreKilledThenNothingThatWasAcknowledgedIsLost() {
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		long seed = FaultsProperties.seed();
		List<SessionKiller> killers = new ArrayList<>();
		long killed;
		do {
			int runs = killers.size();
			CounterRun run = new CounterRun(this.database, this.workers, OPERATIONS, "fencedStorage", "killed-" + runs,
					seed + runs, () -> {
						killers.add(SessionKiller.start(this.url, seed + runs));
						return killers.get(runs);
					});
			assertThat(run.getHistory().getViolations(0, run.getValue(), run.getUnknown())).as(run.toString())
				.isEmpty();
			assertThat(run.getHistory().size()).as(run.toString()).isEqualTo(OPERATIONS);
			killed = killers.stream().mapToLong(SessionKiller::getKilled).sum();
		}
		while (System.nanoTime() - end < 0 || (killed == 0 && killers.size() < MOST_RUNS));
		System.out.println(killed + " sessions killed in " + killers.size() + " runs");
		assertThat(killed).as("killed sessions").isPositive();
	}

	@Test
	void whenNotFencedThenAcknowledgedUpdatesAreLost() {
		long seed = FaultsProperties.seed();
		int runs = 0;
		CounterRun run;
		do {
			run = new CounterRun(this.database, this.workers, OPERATIONS, "undecoratedStorage", "undecorated-" + runs,
					seed + runs);
			assertThat(run.getHistory().size()).as(run.toString()).isEqualTo(OPERATIONS);
			runs++;
		}
		while (run.getValue() == OPERATIONS && runs < MOST_RUNS);
		assertThat(run.getValue()).as(run.toString()).isLessThan(OPERATIONS);
		assertThat(run.getHistory().getViolations(0, run.getValue())).as(run.toString()).isNotEmpty();
	}

}
