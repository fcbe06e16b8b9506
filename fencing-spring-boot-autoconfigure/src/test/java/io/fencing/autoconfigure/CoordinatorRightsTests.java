package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseCoordinator.ReleaseSubscription;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.RedisSentinelServers;
import io.fencing.testing.SlotMigration;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The rights that docs/coordinator.md lists are enough, and each of them is needed (case
 * 52).
 */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class CoordinatorRightsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final Duration SHORT = Duration.ofMillis(700);

	private static final AtomicInteger NUMBER = new AtomicInteger();

	private static final int PORT = TestServers.freePort();

	private static RedisServer redis;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.username=leases", "spring.data.redis.password=secret");

	@BeforeAll
	static void startServer() throws IOException {
		redis = TestServers.newRedis(PORT);
		redis.start();
	}

	@AfterAll
	static void stopServer() throws IOException {
		redis.stop();
	}

	private static List<String> documented() throws IOException {
		Matcher line = Pattern.compile("(?m)^ACL SETUSER leases (.*)$").matcher(document());
		assertThat(line.find()).isTrue();
		return List.of(line.group(1).split(" "));
	}

	private static List<String> documented(String row) throws IOException {
		Matcher line = Pattern.compile("(?m)^\\| [^|]*" + Pattern.quote(row) + ".*`([+][^`]*)` \\|$")
			.matcher(document());
		assertThat(line.find()).as(row).isTrue();
		return List.of(line.group(1).replace("\\|", "|").split(" "));
	}

	private static String document() throws IOException {
		return Files.readString(Path.of("..", "docs", "coordinator.md"));
	}

	private static void give(RedisConsole server, Stream<String> rights) {
		server.send("ACL SETUSER leases reset " + String.join(" ", rights.toList()));
	}

	@Test
	void case52WhenOneServerThenTheListedRightsAreEnoughAndEachIsNeeded() throws IOException {
		RedisConsole console = new RedisConsole(PORT);
		List<String> rights = documented();
		give(console, rights.stream());
		this.runner.withPropertyValues("spring.data.redis.port=" + PORT).run((context) -> {
			LeaseCoordinator coordinator = context.getBean(LeaseCoordinator.class);
			assertThat(whatFails(coordinator, console, newResource(), TIMEOUT)).isNull();
			for (String right : rights.stream().filter((word) -> "+~&".indexOf(word.charAt(0)) >= 0).toList()) {
				// new connections need it
				if (!right.equals("+ping")) {
					give(console, rights.stream().filter((other) -> !other.equals(right)));
					assertThat(whatFails(coordinator, console, newResource(), SHORT)).as("without %s", right)
						.isNotNull();
				}
			}
		});
		assertThatAllAreNeeded(console, rights, List.of("+ping"), "spring.data.redis.port=" + PORT);
	}

	@ParameterizedTest
	@CsvSource({ "client-name, spring.data.redis.client-name=me", "database, spring.data.redis.database=1",
			"fencing.coordinator.fair, fencing.coordinator.fair=true",
			"masterreplica.nodes, spring.data.redis.masterreplica.nodes=127.0.0.1:{port}" })
	void case52WhenConfiguredOtherwiseThenTheListedRightIsEnoughAndNeeded(String row, String property)
			throws IOException {
		RedisConsole console = new RedisConsole(PORT);
		assertThatAllAreNeeded(console, documented(), documented(row), "spring.data.redis.port=" + PORT,
				property.replace("{port}", "" + PORT));
	}

	// tried with connections of their own
	private void assertThatAllAreNeeded(RedisConsole console, List<String> rights, List<String> needed,
			String... properties) {
		List<String> all = Stream.concat(rights.stream(), needed.stream()).distinct().toList();
		give(console, all.stream());
		assertThat(whatFails(console, properties)).isNull();
		for (String right : needed) {
			give(console, all.stream().filter((other) -> !other.equals(right)));
			assertThat(whatFails(console, properties)).as("without %s", right).isNotNull();
		}
	}

	private String whatFails(RedisConsole console, String... properties) {
		String[] failure = new String[1];
		this.runner.withPropertyValues(properties).run((context) -> {
			LeaseCoordinator coordinator = context.getBean(LeaseCoordinator.class);
			failure[0] = whatFails(coordinator, console, newResource(), TIMEOUT);
		});
		return failure[0];
	}

	@Test
	void case52WhenSentinelThenTheListedRightsAreEnoughAndEachIsNeeded() throws IOException {
		List<String> needed = documented("Sentinel");
		RedisClient client = RedisClient.create();
		try (RedisSentinelServers servers = RedisSentinelServers.start(Duration.ofHours(1));
				StatefulRedisConnection<String, String> sentinel = client
					.connect(RedisURI.create("redis://" + servers.getSentinel()))) {
			give(servers.master(), documented().stream());
			// where the password is not demanded, Redisson sends none
			acl(sentinel, "default", Stream.of("off"));
			String[] properties = { "spring.data.redis.sentinel.master=" + RedisSentinelServers.MASTER,
					"spring.data.redis.sentinel.nodes=" + servers.getSentinel(),
					"spring.data.redis.sentinel.username=leases", "spring.data.redis.sentinel.password=secret" };
			for (String missing : Stream.concat(Stream.of(""), needed.stream()).toList()) {
				acl(sentinel, "leases", Stream.concat(Stream.of("reset", "on", ">secret", "-@all"),
						needed.stream().filter((right) -> !right.equals(missing))));
				String failure = whatFails(servers.master(), properties);
				assertThat(failure == null).as("without '%s': %s", missing, failure).isEqualTo(missing.isEmpty());
			}
		}
		finally {
			client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		}
	}

	private static void acl(StatefulRedisConnection<String, String> server, String user, Stream<String> rights) {
		CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(user);
		rights.forEach(arguments::add);
		server.sync().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
	}

	@Test
	void case52WhenClusterThenTheListedRightsAreEnoughAndEachIsNeeded() throws IOException {
		RedisClusterServers servers = RedisClusterServers.shared();
		List<RedisConsole> nodes = servers.getNodes()
			.stream()
			.map((node) -> new RedisConsole(Integer.parseInt(node.split(":")[1])))
			.toList();
		List<String> rights = Stream.concat(documented().stream(), documented("Cluster").stream()).toList();
		for (String missing : Stream.concat(Stream.of(""), documented("Cluster").stream()).toList()) {
			nodes.forEach((node) -> give(node, rights.stream().filter((right) -> !right.equals(missing))));
			this.runner.withPropertyValues("spring.data.redis.cluster.nodes=" + String.join(",", servers.getNodes()))
				.run((context) -> {
					String failure = whatFails(context.getBean(LeaseCoordinator.class), servers, nodes);
					assertThat(failure == null).as("without '%s': %s", missing, failure).isEqualTo(missing.isEmpty());
				});
		}
	}

	private static String whatFails(LeaseCoordinator coordinator, RedisClusterServers servers,
			List<RedisConsole> nodes) {
		FencedResource resource = newResource();
		RedisConsole master = new RedisConsole(servers.masterOf(SlotHash.getSlot(resource.getKey())));
		String failure = whatFails(coordinator, master, resource, TIMEOUT);
		if (failure != null) {
			return failure;
		}
		try {
			Lease lease = lease(coordinator, resource, "me");
			try (SlotMigration migration = SlotMigration.begin(servers, "{" + resource.getKey() + "}")) {
				migration.move(key(resource));
				assertThat(coordinator.renew(List.of(lease), TIMEOUT).renewed()).containsExactly(lease);
			}
			nodes.forEach((node) -> node.send("SCRIPT FLUSH"));
			assertThat(coordinator.release(lease, Duration.ZERO, TIMEOUT)).isTrue();
			return null;
		}
		catch (CoordinatorUnavailableException | AssertionError ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	// the result is the caller's, whatever becomes of the lease
	@Test
	void case52WhenLeaseCannotBeGivenBackThenResultStandsAndLeaseEndsByItsTime(CapturedOutput output)
			throws IOException {
		RedisConsole console = new RedisConsole(PORT);
		List<String> rights = documented();
		this.runner
			.withPropertyValues("spring.data.redis.port=" + PORT, "fencing.lease.time=1s", "fencing.lease.wait=20s")
			.run((context) -> {
				FencedOperations operations = context.getBean(FencedOperations.class);
				FencedOperationRequest request = FencedOperationRequest.of("rights", "" + newResource());
				for (boolean failing : new boolean[] { false, true }) {
					give(console, rights.stream());
					String[] key = new String[1];
					Supplier<String> body = () -> {
						key[0] = key(FencingContext.required().getHeld().get(0).getResource());
						give(console, rights.stream().filter((right) -> !right.equals("+del")));
						if (failing) {
							throw new IllegalArgumentException("theirs");
						}
						return "result";
					};
					if (failing) {
						assertThatExceptionOfType(IllegalArgumentException.class)
							.isThrownBy(() -> operations.call(request, body::get))
							.withMessage("theirs")
							.satisfies((ex) -> assertThat(ex.getSuppressed())
								.hasOnlyElementsOfType(CoordinatorUnavailableException.class));
					}
					else {
						assertThat(operations.<String, RuntimeException>call(request, body::get)).isEqualTo("result");
					}
					await().atMost(TIMEOUT)
						.untilAsserted(() -> assertThat(console.send("EXISTS " + key[0])).isEqualTo("0"));
				}
			});
		assertThat(output).contains("could not be given back").contains("NOPERM");
	}

	private static String key(FencedResource resource) {
		return "fencing:1:{" + resource.getKey() + "}:lease";
	}

	private static FencedResource newResource() {
		return new FencedResourceFactory("rights", null).create("resource " + NUMBER.incrementAndGet());
	}

	private static LeaseRequest request(FencedResource resource, String owner) {
		return new LeaseRequest("rights", resource, owner, Duration.ofSeconds(30));
	}

	private static Lease lease(LeaseCoordinator coordinator, FencedResource resource, String owner) {
		LeaseAnswer answer = coordinator.tryAcquire(request(resource, owner), TIMEOUT);
		assertThat(answer).isInstanceOf(Granted.class);
		return new Lease(request(resource, owner), ((Granted) answer).token(), System.nanoTime(),
				MonotonicClock.SYSTEM);
	}

	/**
	 * Do everything once.
	 * @return what failed first, {@code null} if nothing did
	 */
	private static String whatFails(LeaseCoordinator coordinator, RedisConsole console, FencedResource resource,
			Duration timeout) {
		console.send("SCRIPT FLUSH");
		try {
			Lease lease = lease(coordinator, resource, "me");
			assertThat(coordinator.tryAcquire(request(resource, "other"), TIMEOUT)).isInstanceOf(Busy.class);
			assertThat(coordinator.renew(List.of(lease), TIMEOUT).renewed()).containsExactly(lease);
			Lease same = lease(coordinator, resource, "me");
			assertThat(coordinator.renew(List.of(lease, same), TIMEOUT).renewed()).hasSize(2);
			coordinator.lift(resource, 1, TIMEOUT);
			boolean fair = coordinator.lineUp(request(resource, "other")) != null;
			if (fair) {
				await().atMost(timeout)
					.untilAsserted(() -> assertThat(console.send("EXISTS " + key(resource).replace(":lease", ":line")))
						.as("stands in line")
						.isEqualTo("1"));
			}
			try (ReleaseSubscription subscription = coordinator.subscribe(request(resource, "other"))) {
				assertThat(subscription.await(timeout)).as("listens").isTrue();
				assertThat(coordinator.release(lease, Duration.ZERO, TIMEOUT)).isTrue();
				assertThat(subscription.await(timeout)).as("hears of the release").isTrue();
			}
			await().atMost(timeout)
				.untilAsserted(
						() -> assertThat(console.send("PUBLISH fencing:1:{" + resource.getKey() + "}:released x"))
							.as("listeners left")
							.isEqualTo("0"));
			if (fair) {
				assertThat(coordinator.tryAcquire(request(resource, "newcomer"), TIMEOUT)).isInstanceOf(Busy.class);
			}
			assertThat(coordinator.release(lease(coordinator, resource, "other"), Duration.ZERO, TIMEOUT)).isTrue();
			return null;
		}
		catch (CoordinatorUnavailableException | AssertionError | ConditionTimeoutException ex) {
			return String.valueOf(ex.getMessage());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
