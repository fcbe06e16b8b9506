package io.fencing.lease.redisson;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.LossReason;
import io.fencing.adversarial.FaultsProperties;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.DelegatingCoordinator;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import io.fencing.lease.RecordingListener;
import io.fencing.testing.RedisProcess;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Ten thousand leases of one JVM on a real Redis: all are kept with few pipelines, also
 * through a failure, and what is lost or given back is so once and for ever (cases 06,
 * 08, 10).
 */
@Timeout(120)
class ManyLeasesTests {

	private static final int LEASES = 10_000;

	private static final int THREADS = 8;

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Logger losses = (Logger) LoggerFactory.getLogger("io.fencing.lease.LossReporter");

	private static RedisProcess server;

	private static TcpProxy network;

	private static RedissonClient client;

	private static RedisClient consoleClient;

	private static RedisCommands<String, String> console;

	private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

	private final RecordingListener listener = new RecordingListener();

	private final AtomicLong batches = new AtomicLong();

	private final AtomicLong renewed = new AtomicLong();

	private final AtomicLong refused = new AtomicLong();

	private final AtomicBoolean losesNextAnswers = new AtomicBoolean();

	private volatile long longestDelayNanos = 1;

	private final DefaultLeaseManager manager = new DefaultLeaseManager(
			new DelegatingCoordinator(new RedissonLeaseCoordinator(RedissonClientHolder.shared(() -> client),
					RedissonCoordinatorSettings.defaults())) {
				@Override
				public Renewals renew(Collection<Lease> leases, Duration timeout) {
					if (ManyLeasesTests.this.losesNextAnswers.getAndSet(false)) {
						network.swallowReplies();
						CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS).execute(network::pass);
					}
					LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(ManyLeasesTests.this.longestDelayNanos));
					ManyLeasesTests.this.batches.incrementAndGet();
					Renewals answers = super.renew(leases, timeout);
					ManyLeasesTests.this.renewed.addAndGet(answers.renewed().size());
					ManyLeasesTests.this.refused.addAndGet(answers.refused().size());
					return answers;
				}
			}, new FencingListeners(List.of(this.listener)), MonotonicClock.SYSTEM, Duration.ofSeconds(2));

	@BeforeAll
	static void start(@TempDir Path directory) {
		int port = TestServers.freePort();
		server = new RedisProcess(port, directory, "--save", "");
		server.start();
		network = TcpProxy.start("127.0.0.1", port);
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + network.getPort());
		client = Redisson.create(config);
		consoleClient = RedisClient.create(RedisURI.create("127.0.0.1", port));
		console = consoleClient.connect().sync();
		// of ten thousand losses nobody needs a line each
		losses.setLevel(Level.ERROR);
	}

	@AfterAll
	static void stop() {
		losses.setLevel(null);
		client.shutdown();
		consoleClient.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		network.close();
		server.close();
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.manager.close();
	}

	@Test
	void case08And10WhenTenThousandAreHeldThenAllAreKeptUntilRedisStopsAndThenLostOnceForEver() throws Exception {
		Duration leaseTime = Duration.ofSeconds(3);
		List<Future<List<Lease>>> parts = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			String name = "kept-" + i;
			parts.add(this.threads.submit(() -> acquire(name, LEASES / THREADS, leaseTime)));
		}
		List<Lease> leases = new ArrayList<>();
		for (Future<List<Lease>> part : parts) {
			leases.addAll(part.get());
		}
		keepsAllInFewBatches(leases);
		keepsAllThoughAnswersAreLost(leases);
		losesAllOnceWhenRedisStopsForLongerThanALease(leases);
	}

	private void keepsAllInFewBatches(List<Lease> leases) {
		long batchesBefore = this.batches.get();
		long sentBefore = scriptsRun();
		long before = this.renewed.get();
		awaitRenewals(LEASES);
		long sent = scriptsRun() - sentBefore;
		long more = this.renewed.get() - before;
		System.out.println(
				more + " renewals in " + (this.batches.get() - batchesBefore) + " batches, " + sent + " scripts run");
		assertThat(leases).noneMatch(Lease::isLost);
		assertThat(this.batches.get() - batchesBefore).isLessThan(LEASES / 100);
		// a round may be under way at both ends
		assertThat(sent).isLessThan(more + LEASES);
	}

	private void keepsAllThoughAnswersAreLost(List<Lease> leases) {
		long sentBefore = scriptsRun();
		long before = this.renewed.get();
		this.losesNextAnswers.set(true);
		awaitRenewals(LEASES);
		long sent = scriptsRun() - sentBefore;
		long more = this.renewed.get() - before;
		System.out.println(more + " renewals known to be made, " + sent + " scripts run");
		assertThat(sent).as("some were made twice").isGreaterThan(more);
		assertThat(leases).noneMatch(Lease::isLost);
		assertThat(this.listener.lost).isEmpty();
		assertThat(this.refused).hasValue(0);
	}

	private void losesAllOnceWhenRedisStopsForLongerThanALease(List<Lease> leases) {
		server.freeze();
		long frozenAt = System.nanoTime();
		Duration longer = leases.get(0).getLeaseTime().multipliedBy(11).dividedBy(10);
		await().atMost(LIMIT)
			.until(() -> this.listener.lost.size() >= LEASES && System.nanoTime() - frozenAt > longer.toNanos());
		server.thaw();
		noneComesBackWithin(Duration.ofSeconds(1));
		assertThat(this.listener.lost).hasSize(LEASES);
		assertThat(new HashSet<>(this.listener.lost)).hasSameSizeAs(leases).containsAll(leases);
		assertThat(leases).allMatch((lease) -> lease.getLossReason() == LossReason.DEADLINE);
		assertThat(leases.subList(0, 100)).noneMatch(this.manager::isOurs);
	}

	@Test
	void case06WhenGivenBackWhileRenewalsAreInFlightThenNoneComesBack() throws Exception {
		Duration leaseTime = Duration.ofMillis(1500);
		long seed = FaultsProperties.seed();
		this.longestDelayNanos = TimeUnit.MILLISECONDS.toNanos(100);
		int rounds = 3;
		int together = 50;
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			String name = "raced-" + i;
			Random random = new Random(seed + i);
			workers.add(this.threads.submit(() -> {
				for (int round = 0; round < rounds; round++) {
					List<Lease> leases = acquire(name, together, leaseTime);
					// until about when they are renewed
					LockSupport.parkNanos(leaseTime.dividedBy(3).toNanos() + random.nextInt(100_000_000) - 50_000_000);
					this.manager.release(leases);
				}
			}));
		}
		for (Future<?> worker : workers) {
			worker.get();
		}
		assertThat(this.listener.released).hasSize(THREADS * rounds * together);
		assertThat(this.listener.failures).isEmpty();
		noneComesBackWithin(leaseTime);
		System.out.println("Seed " + seed + ": " + this.renewed + " renewals, " + this.refused
				+ " came after their leases had been given back");
		assertThat(this.refused).as("renewals of leases that had been given back").hasPositiveValue();
		assertThat(this.listener.lost).noneMatch((lease) -> lease.getLossReason() == LossReason.REFUSED);
	}

	private List<Lease> acquire(String name, int count, Duration leaseTime) {
		LeaseTerms terms = new LeaseTerms("many", leaseTime, Duration.ofSeconds(5), Duration.ofMinutes(15),
				Duration.ZERO, true);
		FencedResourceFactory resources = new FencedResourceFactory(name, null);
		List<FencedResource> all = IntStream.range(0, count)
			.mapToObj((i) -> resources.create("resource-" + i))
			.toList();
		return this.manager.acquire(terms, all);
	}

	private void awaitRenewals(int more) {
		long before = this.renewed.get();
		await().atMost(LIMIT).until(() -> this.renewed.get() - before >= more);
	}

	private static long scriptsRun() {
		return console.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_eval"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^.*?calls=(\\d+),.*", "$1")))
			.sum();
	}

	private static void noneComesBackWithin(Duration time) {
		long end = System.nanoTime() + time.toNanos();
		Set<String> seen = new HashSet<>();
		await().atMost(LIMIT).pollDelay(Duration.ZERO).until(() -> {
			seen.addAll(console.keys("fencing:1:*:lease"));
			return System.nanoTime() - end > 0;
		});
		assertThat(seen).hasSize(0);
	}

}
