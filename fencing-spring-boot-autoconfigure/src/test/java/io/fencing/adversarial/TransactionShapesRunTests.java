package io.fencing.adversarial;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.fencing.autoconfigure.LedgerApplication;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two nodes of eight threads change three accounts in every {@link TransactionShape},
 * reading and then writing absolute values, while their leases are taken away at random
 * (rules 1, 3, 4, 10 and 11). What was acknowledged is in the balances and nothing else,
 * no thread keeps anything, and who is refused is told so in a way that is documented.
 *
 * <p>
 * A run takes five seconds. With {@code -Dfencing.faults} it takes
 * {@code fencing.faults.seconds}, 60 by default; {@code fencing.faults.seed} repeats what
 * the threads attempt.
 */
@Tag("faults")
class TransactionShapesRunTests {

	private static final List<String> ACCOUNTS = List.of("a", "b", "c");

	private static final int THREADS_PER_NODE = 8;

	private static final Duration SHORT_FORM = Duration.ofSeconds(5);

	// on a slow machine a run goes on until it has seen everything
	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final String[] PROPERTIES = { "fencing.lease.time=300ms", "fencing.lease.wait=2s",
			"fencing.jdbc.admission-timeout=500ms", "spring.datasource.hikari.maximum-pool-size=24",
			"logging.level.io.fencing=ERROR" };

	// else nothing may join
	private static final String READ_COMMITTED = "&sessionVariables=transaction_isolation='READ-COMMITTED'";

	private static RedissonClient redis;

	@BeforeAll
	static void connect() {
		Config config = new Config();
		config.useSingleServer().setAddress(TestServers.redisUrl());
		redis = Redisson.create(config);
	}

	@AfterAll
	static void disconnect() {
		redis.shutdown();
		// the level outlives the application that has set it
		LoggingSystem.get(TransactionShapesRunTests.class.getClassLoader()).setLogLevel("io.fencing", null);
	}

	@Test
	void whenLeasesAreDroppedOnPostgresThenBalancesAreWhatWasAcknowledged() throws Exception {
		run("PostgreSQL", TestServers.newPostgresUrl());
	}

	@Test
	void whenLeasesAreDroppedOnH2ThenBalancesAreWhatWasAcknowledged() throws Exception {
		run("H2", TestServers.newH2Url());
	}

	@Test
	void whenLeasesAreDroppedOnMariaDbThenBalancesAreWhatWasAcknowledged() throws Exception {
		run("MariaDB", TestServers.newMariaDbUrl() + READ_COMMITTED);
	}

	@Test
	void whenLeasesAreDroppedOnMySqlThenBalancesAreWhatWasAcknowledged() throws Exception {
		run("MySQL", TestServers.newMySqlUrl() + READ_COMMITTED);
	}

	private static void run(String database, String url) throws Exception {
		long seed = FaultsProperties.seed();
		System.out.println("Transaction shapes on " + database + " with seed " + seed);
		try (ConfigurableApplicationContext one = LedgerApplication.startOn(url, PROPERTIES);
				ConfigurableApplicationContext other = LedgerApplication.startOn(url, PROPERTIES)) {
			Ledger ledger = one.getBean(Ledger.class);
			ledger.createTable();
			// outside of operations: on a slow machine the first one may lose its lease
			ACCOUNTS.forEach((account) -> one.getBean(JdbcTemplate.class)
				.update("INSERT INTO account (id, balance) VALUES (?, 0)", account));
			ShapesTally tally = new ShapesTally(ACCOUNTS);
			long dropped = load(url, List.of(ShapesNode.of(one), ShapesNode.of(other)), tally, new Random(seed));
			Map<String, Long> balances = new TreeMap<>();
			ACCOUNTS.forEach((account) -> balances.put(account, ledger.read(account)));
			String text = database + ", seed " + seed + ": balances " + balances + ", dropped leases " + dropped + ", "
					+ tally;
			System.out.println(text);
			assertThat(balances).as(text).isEqualTo(tally.getBalances());
			assertThat(tally.getViolations()).as(text).isEmpty();
			assertThat(dropped).as(text).isPositive();
			assertThat(tally.hasSeenEverything()).as(text).isTrue();
		}
	}

	private static long load(String url, List<ShapesNode> nodes, ShapesTally tally, Random seeds) throws Exception {
		BooleanSupplier goOn = until(tally);
		LeaseDropper dropper = new LeaseDropper(redis, url, ACCOUNTS.stream().map(ShapeAttempt::resource).toList(),
				seeds.nextLong(), goOn);
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			List<Future<?>> running = new ArrayList<>();
			running.add(threads.submit(dropper));
			for (ShapesNode node : nodes) {
				for (int i = 0; i < THREADS_PER_NODE; i++) {
					running.add(threads.submit(new ShapesWorker(node, ACCOUNTS, seeds.nextLong(), tally, goOn)));
				}
			}
			for (Future<?> one : running) {
				one.get(FaultsProperties.time(SHORT_FORM).plus(LIMIT.multipliedBy(2)).toSeconds(), TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		return dropper.getDropped();
	}

	private static BooleanSupplier until(ShapesTally tally) {
		long start = System.nanoTime();
		Duration time = FaultsProperties.time(SHORT_FORM);
		return () -> {
			long elapsed = System.nanoTime() - start;
			return elapsed < time.toNanos() || (!tally.hasSeenEverything() && elapsed < time.plus(LIMIT).toNanos());
		};
	}

}
