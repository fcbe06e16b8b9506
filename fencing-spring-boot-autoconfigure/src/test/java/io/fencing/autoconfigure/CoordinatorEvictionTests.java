package io.fencing.autoconfigure;

import java.io.IOException;
import java.time.Duration;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.InvalidFencedOperationException;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A Redis that may evict leases is told of when the application starts, or ends the
 * start; one that does not tell its policy is no reason for a warning (cases 16, 52).
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class CoordinatorEvictionTests {

	private static final String FAIL = "fencing.coordinator.eviction=fail";

	private static final int PORT = TestServers.freePort();

	private static final RedisConsole CONSOLE = new RedisConsole(PORT);

	private static RedisServer redis;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=" + PORT);

	@BeforeAll
	static void startServer() throws IOException {
		redis = TestServers.newRedis(PORT);
		redis.start();
		CONSOLE.send("ACL SETUSER limited on >secret ~* &* +@all -info -config");
	}

	@AfterAll
	static void stopServer() throws IOException {
		redis.stop();
	}

	@AfterEach
	void evictNothing() {
		CONSOLE.send("CONFIG SET maxmemory-policy noeviction");
	}

	@ParameterizedTest
	@ValueSource(strings = { "allkeys-lru", "allkeys-random", "volatile-lru", "volatile-ttl" })
	void case16WhenLeasesMayBeEvictedThenWarnedOnceWithTheRemedy(String policy, CapturedOutput output) {
		CONSOLE.send("CONFIG SET maxmemory-policy " + policy);
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			await().untilAsserted(() -> assertThat(output).contains("'" + policy + "'"));
			call(context);
		});
		assertThat(output).containsOnlyOnce("WARN")
			.contains("'maxmemory-policy'")
			.contains("'noeviction'")
			.contains("'fencing.coordinator.url'");
	}

	@Test
	void case16WhenOneMasterOfAClusterMayEvictThenWarned(CapturedOutput output) {
		RedisClusterServers servers = RedisClusterServers.shared();
		RedisConsole last = new RedisConsole(servers.getMasterPorts().get(2));
		last.send("CONFIG SET maxmemory-policy allkeys-lfu");
		try {
			this.runner.withPropertyValues("spring.data.redis.cluster.nodes=" + String.join(",", servers.getNodes()))
				.run((context) -> await().untilAsserted(() -> assertThat(output).contains("'allkeys-lfu'")));
		}
		finally {
			last.send("CONFIG SET maxmemory-policy noeviction");
		}
	}

	@Test
	void case16WhenClientIsThatOfTheApplicationThenWarnedAtStart(CapturedOutput output) {
		CONSOLE.send("CONFIG SET maxmemory-policy allkeys-lru");
		this.runner.withBean("theirs", RedissonClient.class, () -> {
			Config config = new Config();
			config.useSingleServer().setAddress("redis://127.0.0.1:" + PORT);
			return Redisson.create(config);
		}, (definition) -> definition.setDestroyMethodName("shutdown"))
			.run((context) -> await().untilAsserted(() -> assertThat(output).contains("'allkeys-lru'")));
	}

	@ParameterizedTest
	@CsvSource({ "noeviction, warn, default", "noeviction, fail, default", "allkeys-lru, ignore, default",
			"allkeys-lru, warn, limited", "allkeys-lru, fail, limited" })
	void whenNothingIsEvictedOrItIsNotToldOrAllowedThenSilent(String policy, String eviction, String user,
			CapturedOutput output) {
		CONSOLE.send("CONFIG SET maxmemory-policy " + policy);
		this.runner
			.withPropertyValues("fencing.coordinator.eviction=" + eviction,
					"spring.data.redis.url=redis://" + user + ":secret@127.0.0.1:" + PORT)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				call(context);
			});
		assertThat(output).doesNotContain("WARN").doesNotContain("ERROR").doesNotContain("Exception");
	}

	@Test
	void whenServerKnowsNoInfoThenSilent(CapturedOutput output) throws IOException {
		int port = TestServers.freePort();
		RedisServer managed = TestServers.newRedis(port, "maxmemory-policy allkeys-lru", "rename-command INFO hidden",
				"rename-command CONFIG hidden2");
		managed.start();
		try {
			this.runner.withPropertyValues("spring.data.redis.port=" + port).run(CoordinatorEvictionTests::call);
		}
		finally {
			managed.stop();
		}
		assertThat(output).doesNotContain("WARN").doesNotContain("ERROR").doesNotContain("Exception");
	}

	@Test
	void case16WhenItMustFailThenTheStartEnds() {
		CONSOLE.send("CONFIG SET maxmemory-policy allkeys-lru");
		this.runner.withPropertyValues(FAIL)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidFencedOperationException.class)
				.hasMessageContaining("'allkeys-lru'"));
		this.runner.withPropertyValues(FAIL, "fencing.mode=observe")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void case35WhenItMustFailButRedisIsDownAtStartThenNoLeaseIsGrantedUntilItEvictsNothing() throws IOException {
		int port = TestServers.freePort();
		RedisServer late = TestServers.newRedis(port, "maxmemory-policy allkeys-lru");
		this.runner.withPropertyValues(FAIL, "spring.data.redis.port=" + port).run((context) -> {
			assertThat(context).hasNotFailed();
			late.start();
			try {
				await().untilAsserted(() -> assertThatExceptionOfType(CoordinatorUnavailableException.class)
					.isThrownBy(() -> call(context))
					.withMessageContaining("'allkeys-lru'"));
				new RedisConsole(port).send("CONFIG SET maxmemory-policy noeviction");
				await().atMost(Duration.ofSeconds(20))
					.ignoreExceptionsInstanceOf(CoordinatorUnavailableException.class)
					.untilAsserted(() -> call(context));
			}
			finally {
				late.stop();
			}
		});
	}

	private static void call(ApplicationContext context) {
		FencedResource resource = context.getBean(FencedResourceFactory.class).create("anything");
		context.getBean(LeaseCoordinator.class)
			.tryAcquire(new LeaseRequest("eviction", resource, "me", Duration.ofSeconds(1)), Duration.ofSeconds(10));
	}

}
