package io.fencing.fence.redis;

import java.io.IOException;
import java.time.Duration;

import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import io.lettuce.core.ReadFrom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that refuses, does not answer or lags, and what cannot be fenced.
 */
class RedisFailureTests {

	/** The line that the documentation gives, with an application's own commands. */
	static final String LEAST_RIGHTS = "ACL SETUSER app on >secret resetkeys ~fencing:1:* ~app:* -@all "
			+ "+hello +ping +client +select +eval +evalsha +get +set +time +incr";

	private final int port = TestServers.freePort();

	private final RedisServer server = TestServers.newRedis(this.port);

	private final RedisConsole console = new RedisConsole(this.port);

	private final FencedRedis redis = new FencedRedis();

	@BeforeEach
	void start() throws IOException {
		this.server.start();
	}

	@AfterEach
	void stop() throws IOException {
		this.redis.close();
		this.server.stop();
	}

	private LettuceConnectionFactory fence(LettuceConnectionFactory factory) {
		return FencedRedis.start(this.redis.fence(factory, UnfencedWrites.ALLOW));
	}

	private LettuceConnectionFactory newFactory(Duration timeout) {
		return new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", this.port),
				LettuceClientConfiguration.builder().commandTimeout(timeout).build());
	}

	private static OperationContext operation() {
		return FencedRedis.operation(FencedRedis.next("failure"));
	}

	// case 52, fence side
	@Test
	void case52WhenUserHasLeastRightsThenCommandsAreFencedAndOthersAreRefusedByTheServer() throws Exception {
		this.console.send(LEAST_RIGHTS);
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", this.port);
		configuration.setUsername("app");
		configuration.setPassword("secret");
		LettuceConnectionFactory factory = fence(new LettuceConnectionFactory(configuration));
		StringRedisTemplate template = new StringRedisTemplate(factory);
		FencedRedis.in(operation(), () -> {
			template.opsForValue().set("app:a", "1");
			assertThat(template.opsForValue().increment("app:a")).isEqualTo(2);
			assertThat(template.opsForValue().get("app:a")).isEqualTo("2");
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> template.opsForValue().set("other", "1"))
				.havingRootCause()
				.withMessageStartingWith("NOPERM");
			return true;
		});
		factory.destroy();
	}

	// case 71
	@Test
	void case71WhenReadsGoToAReplicaThenThoseOfAnOperationSeeTheMaster() throws Exception {
		int replicaPort = TestServers.freePort();
		RedisServer replica = TestServers.newRedis(replicaPort);
		replica.start();
		try {
			RedisConsole replicaConsole = new RedisConsole(replicaPort);
			replicaConsole.send("CONFIG SET replica-read-only no");
			replicaConsole.send("REPLICAOF 127.0.0.1 " + this.port);
			this.console.send("SET a master");
			await().until(() -> "master".equals(replicaConsole.send("GET a")));
			replicaConsole.send("SET a lagging");
			RedisStaticMasterReplicaConfiguration configuration = new RedisStaticMasterReplicaConfiguration("127.0.0.1",
					this.port);
			configuration.addNode("127.0.0.1", replicaPort);
			LettuceConnectionFactory factory = fence(new LettuceConnectionFactory(configuration,
					LettuceClientConfiguration.builder().readFrom(ReadFrom.REPLICA_PREFERRED).build()));
			StringRedisTemplate template = new StringRedisTemplate(factory);
			await().until(() -> "lagging".equals(template.opsForValue().get("a")));
			FencedRedis.in(operation(), () -> {
				assertThat(template.opsForValue().get("a")).isEqualTo("master");
				assertThat(template.opsForValue().get("a")).isEqualTo("master");
				template.opsForValue().set("a", "written");
				assertThat(template.opsForValue().get("a")).isEqualTo("written");
				return true;
			});
			factory.destroy();
		}
		finally {
			replica.stop();
		}
	}

	@Test
	void whenServerDoesNotAnswerThenTimeoutReachesTheCallerAndNextCommandWorks() throws Exception {
		LettuceConnectionFactory factory = fence(newFactory(Duration.ofMillis(500)));
		StringRedisTemplate template = new StringRedisTemplate(factory);
		FencedRedis.in(operation(), () -> {
			assertThat(template.opsForValue().get("a")).isNull();
			this.console.send("CLIENT PAUSE 1500 ALL");
			assertThatExceptionOfType(QueryTimeoutException.class)
				.isThrownBy(() -> template.opsForValue().increment("a"));
			await().ignoreException(QueryTimeoutException.class)
				.untilAsserted(() -> assertThat(template.opsForValue().get("a")).isIn("1", null));
			return true;
		});
		factory.destroy();
	}

	@Test
	void whenConnectionIsDroppedThenNextCommandIsFencedOnANewOne() throws Exception {
		LettuceConnectionFactory factory = fence(newFactory(Duration.ofSeconds(5)));
		StringRedisTemplate template = new StringRedisTemplate(factory);
		FencedRedis.in(operation(), () -> {
			template.opsForValue().set("a", "1");
			this.console.send("CLIENT KILL TYPE normal");
			await().ignoreExceptions().until(() -> template.opsForValue().increment("a") > 1);
			return true;
		});
		factory.destroy();
	}

	@Test
	void whenServerIsDemotedThenItsErrorReachesTheCaller() throws Exception {
		LettuceConnectionFactory factory = fence(newFactory(Duration.ofSeconds(5)));
		StringRedisTemplate template = new StringRedisTemplate(factory);
		FencedRedis.in(operation(), () -> {
			template.opsForValue().set("a", "1");
			this.console.send("REPLICAOF 127.0.0.1 " + TestServers.freePort());
			assertThatExceptionOfType(RedisSystemException.class).isThrownBy(() -> template.opsForValue().set("a", "2"))
				.havingRootCause()
				.withMessageStartingWith("READONLY");
			return true;
		});
		factory.destroy();
	}

	@Test
	void whenServerIsOutOfMemoryThenItsErrorReachesTheCaller() throws Exception {
		LettuceConnectionFactory factory = fence(newFactory(Duration.ofSeconds(5)));
		StringRedisTemplate template = new StringRedisTemplate(factory);
		this.console.send("CONFIG SET maxmemory 1");
		FencedRedis.in(operation(), () -> {
			assertThatExceptionOfType(RedisSystemException.class).isThrownBy(() -> template.opsForValue().set("a", "2"))
				.havingRootCause()
				.withMessageStartingWith("OOM");
			this.console.send("CONFIG SET maxmemory 0");
			template.opsForValue().set("a", "3");
			return true;
		});
		factory.destroy();
	}

	@Test
	void whenConnectionsAreNotSharedThenFencedTheSame() throws Exception {
		LettuceConnectionFactory original = newFactory(Duration.ofSeconds(5));
		original.setShareNativeConnection(false);
		LettuceConnectionFactory factory = fence(original);
		assertThat(factory.getShareNativeConnection()).isFalse();
		StringRedisTemplate template = new StringRedisTemplate(factory);
		FencedRedis.in(operation(), () -> {
			template.opsForValue().set("a", "1");
			assertThat(template.opsForValue().get("a")).isEqualTo("1");
			return true;
		});
		assertThat(this.console.send("DBSIZE")).isEqualTo("2");
		factory.destroy();
	}

	@Test
	void whenDriverHasNoFenceThenItsConnectionsAreRefusedInsideOfOperations() {
		LettuceConnectionFactory original = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", this.port)) {
		};
		FencedRedis.start(original);
		RedisFencePostProcessor postProcessor = this.redis.postProcessor(UnfencedWrites.ALLOW);
		LettuceConnectionFactory factory = (LettuceConnectionFactory) postProcessor.postProcessAfterInitialization(
				postProcessor.postProcessBeforeInitialization(original, "factory"), "factory");
		StringRedisTemplate template = new StringRedisTemplate(factory);
		template.opsForValue().set("a", "1");
		RedisConnection before = factory.getConnection();
		try (OperationContext.Scope scope = operation().open()) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> template.opsForValue().set("a", "2"))
				.withMessageContaining("fencing.redis.factories");
		}
		try (OperationContext.Scope scope = operation().open()) {
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(before::stringCommands);
		}
		before.close();
		assertThat(template.opsForValue().get("a")).isEqualTo("1");
		original.destroy();
	}

}
