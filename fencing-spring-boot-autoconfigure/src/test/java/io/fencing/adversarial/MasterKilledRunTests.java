package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.fencing.adversarial.LedgerLoad.Outcome;
import io.fencing.testing.ForkedJvm;
import io.fencing.testing.Freezer;
import io.fencing.testing.MortalRedis;
import io.fencing.testing.RedisProcess;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Two JVMs of eight threads add to accounts, some held up for longer than their lease,
 * whole JVMs frozen at random, while the master that grants the leases is killed again
 * and again and comes back empty, with old data or as a replica of the one that took
 * over, loses its data while it runs, or hangs until there is another (cases 14, 53). The
 * same storm goes over one account that no fence protects, whose ledger breaks.
 *
 * <p>
 * A run takes some seconds, and each kind of storage is tried with one topology; with
 * {@code -Dfencing.faults} with both, {@code fencing.faults.seconds} and a fault every
 * five seconds or so. {@code fencing.faults.seed} repeats its decisions.
 */
@Tag("faults")
class MasterKilledRunTests {

	private static final Duration SHORT_FORM = Duration.ofSeconds(4);

	private static final Duration LONGEST_EXTENSION = Duration.ofSeconds(30);

	private static final List<String> ACCOUNTS = List.of("first", "second", LedgerLoad.NAIVE);

	private static final Duration LEASE = Duration.ofSeconds(1);

	private final long seed = FaultsProperties.seed();

	private final List<ForkedJvm> workers = new ArrayList<>();

	private final RedisClient client = RedisClient.create();

	@AfterEach
	void close() {
		this.workers.forEach(ForkedJvm::close);
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

	static Stream<Topology> coordinating() {
		return FaultsProperties.isFullForm() ? Stream.of(Topology.values()) : Stream.of(Topology.SENTINEL);
	}

	static Stream<Topology> storing() {
		return FaultsProperties.isFullForm() ? Stream.of(Topology.values()) : Stream.of(Topology.CLUSTER);
	}

	@ParameterizedTest
	@MethodSource("coordinating")
	void whenMasterIsKilledAgainAndAgainThenPostgresLosesNoUpdate(Topology topology) {
		String url = TestServers.newPostgresUrl();
		JdbcLedger ledger = JdbcLedger.undecorated(new DriverManagerDataSource(url));
		ledger.create(ACCOUNTS);
		try (MortalRedis redis = topology.start.get()) {
			startWorkers(redis, "--ledger.storage=POSTGRES", "--spring.datasource.url=" + url);
			LedgerRun run = run(topology, redis, ledger::entries);
			assertThat(run.violations()).as("what is wrong with the ledgers").isEmpty();
			Set<String> entries = run.entries();
			assertThat(entries).as("what was acknowledged is there").containsAll(run.calls("ACKNOWLEDGED"));
			assertThat(entries).as("what was refused is not").doesNotContainAnyElementsOf(run.calls("REFUSED"));
			assertThat(ACCOUNTS.stream().filter((account) -> !account.equals(LedgerLoad.NAIVE)))
				.allSatisfy((account) -> assertThat(ledger.entries(account)).last().isEqualTo(ledger.last(account)));
		}
	}

	@ParameterizedTest
	@MethodSource("storing")
	void whenMasterIsKilledAgainAndAgainThenWhatSurvivesInItIsSound(Topology topology) {
		try (MortalRedis redis = topology.start.get()) {
			startWorkers(redis, "--ledger.storage=REDIS",
					"--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");
			LedgerRun run = run(topology, redis, (account) -> entries(redis, account));
			assertThat(run.violations()).as("what is wrong with the ledgers").isEmpty();
			Set<String> lost = run.calls("ACKNOWLEDGED");
			int acknowledged = lost.size();
			lost.removeAll(run.entries());
			System.out.println("Of " + acknowledged + " acknowledged entries " + lost.size()
					+ " were lost with the data of their master");
		}
	}

	private void startWorkers(MortalRedis redis, String... more) {
		List<String> arguments = new ArrayList<>(redis.getProperties().stream().map((text) -> "--" + text).toList());
		arguments.addAll(List.of(more));
		arguments.addAll(List.of("--spring.data.redis.timeout=500ms", "--spring.data.redis.connect-timeout=500ms",
				"--spring.data.redis.lettuce.cluster.refresh.adaptive=true",
				"--spring.data.redis.lettuce.cluster.refresh.period=500ms",
				"--fencing.lease.time=" + LEASE.toMillis() + "ms", "--fencing.lease.wait=1s",
				"--fencing.coordinator.timeout=500ms", "--fencing.jdbc.admission-timeout=1s"));
		Stream.of("A", "B")
			.forEach((name) -> this.workers
				.add(ForkedJvm.start(name, LedgerLoad.class, arguments.toArray(String[]::new))));
		this.workers.forEach((worker) -> worker.await("READY"));
	}

	private LedgerRun run(Topology topology, MortalRedis redis, Function<String, List<LedgerEntry>> storage) {
		System.out.println(topology + ", seed " + this.seed);
		LedgerRun run = new LedgerRun(this.workers, ACCOUNTS, storage);
		List<String> keys = ACCOUNTS.stream().map((account) -> RedisLedger.PREFIX + account).toList();
		MasterKiller killer = new MasterKiller(redis, keys, this.seed);
		Duration time = FaultsProperties.time(SHORT_FORM);
		long end = System.nanoTime() + time.toNanos();
		long last = end + LONGEST_EXTENSION.toNanos();
		// without a kill and a lost update of the account without a fence it has shown
		// nothing
		BooleanSupplier goesOn = () -> System.nanoTime() - end < 0
				|| (System.nanoTime() - last < 0 && (killer.getKills() == 0 || run.violationsOfNaive().isEmpty()));
		run.start(this.seed);
		try (Freezer freezer = Freezer.start(this.seed, this.workers, LEASE, LEASE.multipliedBy(2))) {
			killer.run(time.equals(SHORT_FORM) ? Duration.ofSeconds(3) : Duration.ofSeconds(10), run::goOn, goesOn);
		}
		await().atMost(Duration.ofSeconds(60)).until(redis::isWhole);
		run.stop();
		System.out.println(topology + ", seed " + this.seed + ": " + killer + "; " + run);
		assertThat(run.violationsOfNaive()).as("what is wrong without the fence").isNotEmpty();
		assertThat(run.count(Outcome.STALE, Outcome.LOST)).as("calls that were refused").isPositive();
		assertThat(run.count(Outcome.GRANTED)).as("calls that succeeded").isPositive();
		assertThat(killer.getKills()).as("kills").isPositive();
		return run;
	}

	private List<LedgerEntry> entries(MortalRedis redis, String account) {
		String key = RedisLedger.PREFIX + account;
		RedisProcess master = redis.findMaster(key);
		if (master == null) {
			return null;
		}
		try (StatefulRedisConnection<String, String> connection = this.client
			.connect(RedisURI.create("127.0.0.1", master.getPort()))) {
			return connection.sync().lrange(key, 0, -1).stream().map(LedgerEntry::parse).toList();
		}
		catch (RedisException ex) {
			// it is not the master any more
			return null;
		}
	}

	/**
	 * The kinds of servers.
	 */
	enum Topology {

		SENTINEL(MortalRedis::sentinel),

		CLUSTER(MortalRedis::cluster);

		private final Supplier<MortalRedis> start;

		Topology(Supplier<MortalRedis> start) {
			this.start = start;
		}

	}

}
