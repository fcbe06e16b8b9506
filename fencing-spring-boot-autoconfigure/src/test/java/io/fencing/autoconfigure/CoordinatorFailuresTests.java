package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager;
import io.fencing.lease.LeaseManager.LeaseTerms;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Whatever befalls Redis, in whatever topology: a call gets a lease or is told that there
 * is none, tokens rise, and the same client recovers by itself (cases 14, 15, 53).
 * docs/coordinator.md ends with what became of each.
 */
@Timeout(120)
class CoordinatorFailuresTests {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final List<String> ROWS = new ArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	@ParameterizedTest
	@EnumSource
	void rule6WhenRedisFailsThenToldAndTokensRiseAndItRecovers(Topology topology) {
		Iterator<RedisFailure> failures = topology.failures.get().iterator();
		while (failures.hasNext()) {
			try (RedisTopology redis = topology.start.get()) {
				this.runner.withPropertyValues(redis.properties().toArray(String[]::new))
					.run((context) -> observe(redis, topology, failures, context.getBean(LeaseManager.class)));
			}
		}
	}

	private static void observe(RedisTopology redis, Topology topology, Iterator<RedisFailure> failures,
			LeaseManager leases) {
		RedisFailure failure;
		do {
			failure = failures.next();
			ROWS.add("| " + failure + " | " + topology + " | " + observe(redis, failure, leases) + " |");
		}
		while (failures.hasNext() && !failure.isFinal());
	}

	private static String observe(RedisTopology redis, RedisFailure failure, LeaseManager leases) {
		FencedResource leased = redis.resource(failure.name() + "-leased");
		FencedResource free = redis.resource(failure.name() + "-free");
		failure.prepare(redis);
		Lease lease = acquireEventually(leases, failure.getLeaseTime(), leased);
		long failedAt = System.nanoTime();
		failure.happen(redis, leased);
		String answer = answer(leases, free);
		failure.end(redis);
		leases.release(List.of(acquireEventually(leases, Duration.ofSeconds(30), free)));
		long recovered = Duration.ofNanos(System.nanoTime() - failedAt).toMillis();
		boolean kept = isKept(lease, leases);
		assertThat(leases.release(List.of(lease))).isNull();
		Lease next = acquireEventually(leases, Duration.ofSeconds(30), leased);
		assertThat(next.getToken().value()).as("the next token").isGreaterThan(lease.getToken().value());
		leases.release(List.of(next));
		return answer + " | " + (kept ? "stays" : "is lost") + " | higher | " + recovered / 100 / 10.0 + " s";
	}

	private static boolean isKept(Lease lease, LeaseManager leases) {
		return !lease.isLost() && leases.isOurs(lease);
	}

	private static String answer(LeaseManager leases, FencedResource resource) {
		try {
			leases.release(List.of(acquire(leases, Duration.ofSeconds(30), resource)));
			return "is granted";
		}
		catch (CoordinatorUnavailableException ex) {
			return "`CoordinatorUnavailableException`";
		}
	}

	private static Lease acquireEventually(LeaseManager leases, Duration leaseTime, FencedResource resource) {
		return await().atMost(LIMIT)
			.pollInterval(Duration.ofMillis(50))
			.ignoreExceptionsMatching(
					(ex) -> ex instanceof CoordinatorUnavailableException || ex instanceof LeaseNotAcquiredException)
			.until(() -> acquire(leases, leaseTime, resource), (lease) -> true);
	}

	private static Lease acquire(LeaseManager leases, Duration leaseTime, FencedResource resource) {
		LeaseTerms terms = new LeaseTerms("failures", leaseTime, Duration.ofMillis(500), Duration.ofMinutes(15),
				Duration.ZERO, true);
		return leases.acquire(terms, List.of(resource)).get(0);
	}

	@AfterAll
	static void checkDocumentation() throws IOException {
		String table = """
				| what happens | to | a call meanwhile | a lease held before | next token | a call succeeds again after |
				| --- | --- | --- | --- | --- | --- |
				"""
				+ String.join("\n", ROWS) + "\n";
		Path generated = Path.of("target", "coordinator-failures.md");
		Files.createDirectories(generated.getParent());
		Files.writeString(generated, table);
		Pattern time = Pattern.compile("[0-9.]+ s \\|\n");
		assertThat(time.matcher(Files.readString(Path.of("..", "docs", "coordinator.md"))).replaceAll("… |\n"))
			.as("docs/coordinator.md ends with what %s has, but for the times", generated)
			.endsWith(time.matcher(table).replaceAll("… |\n"));
	}

	/**
	 * The topologies.
	 */
	enum Topology {

		STANDALONE("one server", RedisTopology::standalone, RedisFailure::ofStandalone),

		SENTINEL("Sentinel", RedisTopology::sentinel, RedisFailure::ofSentinel),

		CLUSTER("Cluster", RedisTopology::cluster, RedisFailure::ofCluster);

		private final String text;

		private final Supplier<RedisTopology> start;

		private final Supplier<Set<RedisFailure>> failures;

		Topology(String text, Supplier<RedisTopology> start, Supplier<Set<RedisFailure>> failures) {
			this.text = text;
			this.start = start;
			this.failures = failures;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
