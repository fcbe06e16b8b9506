package io.fencing.adversarial;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.fencing.testing.ForkedJvm;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisSentinelServers;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs of eight threads add one to the same counter in Redis under leases of 300 ms,
 * reading in one command and writing an absolute value in another, while some are held up
 * for longer, whole JVMs are frozen and guards deleted at random. What was acknowledged
 * is in the value; without the fence it is not.
 *
 * <p>
 * One run is 50 operations. With {@code -Dfencing.faults} runs follow one another for
 * {@code fencing.faults.seconds}; {@code fencing.faults.seed} repeats the decisions of a
 * run.
 */
@Tag("faults")
class RedisRunTests {

	private static final int OPERATIONS = 50;

	private static final int LONGEST_PAUSE_MILLIS = 800;

	// what goes wrong is drawn by chance: a run in which nothing did is followed by
	// another
	private static final int MOST_RUNS = 8;

	private static Map<String, RedisCounterStorage> databases = Map.of();

	private static List<ForkedJvm> workers = List.of();

	@BeforeAll
	static void start() {
		String url = TestServers.redisUrl();
		String sentinel = RedisSentinelServers.shared().getSentinel();
		List<String> cluster = RedisClusterServers.shared().getNodes();
		databases = Map.of("Standalone", RedisCounterStorage.undecorated(RedisCounters.standalone(url)), "Sentinel",
				RedisCounterStorage.undecorated(RedisCounters.sentinel(sentinel)), "Cluster",
				RedisCounterStorage.undecorated(RedisCounters.cluster(cluster)));
		String[] properties = { "--spring.data.redis.url=" + url, "--counter.standalone=" + url,
				"--counter.sentinel=" + sentinel, "--counter.cluster=" + String.join(",", cluster),
				"--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
				"--fencing.lease.time=" + CounterLoad.LEASE.toMillis() + "ms", "--fencing.lease.wait=10s" };
		workers = Stream.of("A", "B").map((name) -> ForkedJvm.start(name, CounterLoad.class, properties)).toList();
		workers.forEach((worker) -> worker.await("READY"));
	}

	@AfterAll
	static void stop() {
		workers.forEach(ForkedJvm::close);
		databases.values().forEach(RedisCounterStorage::close);
	}

	@ParameterizedTest
	@ValueSource(strings = { "Standalone", "Sentinel", "Cluster" })
	void whenFencedThenValueIsWhatWasAcknowledged(String topology) throws Exception {
		RedisCounterStorage database = databases.get(topology);
		long end = System.nanoTime() + FaultsProperties.time(Duration.ZERO).toNanos();
		long seed = FaultsProperties.seed();
		int runs = 0;
		long stale = 0;
		do {
			CountDownLatch done = new CountDownLatch(1);
			Random random = new Random(seed + runs);
			Thread dropper = new Thread(() -> deleteGuards(database, random, done), "guard-dropper");
			dropper.start();
			CounterRun run;
			try {
				run = new CounterRun(database, workers, OPERATIONS, "fenced" + topology, "fenced-" + runs, seed + runs);
			}
			finally {
				done.countDown();
				dropper.join();
			}
			assertThat(run.getHistory().getViolations(0, run.getValue())).as(run.toString()).isEmpty();
			assertThat(run.getHistory().size()).as(run.toString()).isEqualTo(OPERATIONS);
			assertThat(run.getValue()).as(run.toString()).isEqualTo(OPERATIONS);
			stale += run.getStale();
			runs++;
		}
		while (System.nanoTime() - end < 0 || (stale == 0 && runs < MOST_RUNS));
		assertThat(stale).as("tokens refused by Redis").isPositive();
	}

	private static void deleteGuards(RedisCounterStorage database, Random random, CountDownLatch done) {
		try {
			long deleted = 0;
			while (!done.await(random.nextInt(LONGEST_PAUSE_MILLIS), TimeUnit.MILLISECONDS)) {
				deleted += database.deleteGuards();
			}
			System.out.println("Guards deleted: " + deleted);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Standalone", "Sentinel", "Cluster" })
	void whenNotFencedThenAcknowledgedUpdatesAreLost(String topology) {
		long seed = FaultsProperties.seed();
		int runs = 0;
		CounterRun run;
		do {
			run = new CounterRun(databases.get(topology), workers, OPERATIONS, "undecorated" + topology,
					"undecorated-" + runs, seed + runs);
			assertThat(run.getHistory().size()).as(run.toString()).isEqualTo(OPERATIONS);
			runs++;
		}
		while (run.getValue() == OPERATIONS && runs < MOST_RUNS);
		assertThat(run.getValue()).as(run.toString()).isLessThan(OPERATIONS);
		assertThat(run.getHistory().getViolations(0, run.getValue())).as(run.toString()).isNotEmpty();
	}

}
