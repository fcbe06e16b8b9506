package io.fencing.fence.redis;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Callable;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Jedis behind a Sentinel, in a factory of the application's own, and where Lettuce is
 * not there.
 */
class JedisTopologyTests {

	@Test
	void whenSentinelNamesTheMasterThenStaleWriteChangesNothing() throws Exception {
		int port = TestServers.freePort();
		int sentinelPort = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		RedisSentinel sentinel = RedisSentinel.newRedisSentinel()
			.bind("127.0.0.1")
			.port(sentinelPort)
			.masterName("main")
			.masterPort(port)
			.quorumSize(1)
			.build();
		server.start();
		sentinel.start();
		try (FencedRedis redis = new FencedRedis()) {
			JedisConnectionFactory factory = (JedisConnectionFactory) redis.fenceAny(new JedisConnectionFactory(
					new RedisSentinelConfiguration("main", Set.of("127.0.0.1:" + sentinelPort))));
			checkFenced(new StringRedisTemplate(factory));
			factory.destroy();
		}
		finally {
			sentinel.stop();
			server.stop();
		}
	}

	// case 52, fence side
	@Test
	void case52WhenUserHasLeastRightsThenCommandsAreFencedAndOthersAreRefusedByTheServer() throws Exception {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		server.start();
		try (FencedRedis redis = new FencedRedis()) {
			new RedisConsole(port).send(RedisFailureTests.LEAST_RIGHTS + " +watch +unwatch +multi +exec +discard");
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("127.0.0.1", port);
			configuration.setUsername("app");
			configuration.setPassword("secret");
			JedisConnectionFactory factory = (JedisConnectionFactory) redis
				.fenceAny(new JedisConnectionFactory(configuration));
			StringRedisTemplate template = new StringRedisTemplate(factory);
			FencedRedis.in(FencedRedis.operation(FencedRedis.next("rights")), () -> {
				template.opsForValue().set("app:a", "1");
				assertThat(template.opsForValue().increment("app:a")).isEqualTo(2);
				assertThat(template.opsForValue().get("app:a")).isEqualTo("2");
				assertThat(template.execute(new InTransaction(() -> {
				}, "app:a"))).hasSize(3);
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> template.opsForValue().set("other", "1"))
					.withMessageStartingWith("NOPERM");
				return true;
			});
			factory.destroy();
		}
		finally {
			server.stop();
		}
	}

	@Test
	void whenFactoryIsOfASubClassThenItIsFencedAsWell() throws Exception {
		try (FencedRedis redis = new FencedRedis()) {
			JedisConnectionFactory original = new JedisConnectionFactory(
					JedisFenceTests.newFactory(TestServers.redisUrl(), true, 0).getStandaloneConfiguration()) {
			};
			JedisConnectionFactory factory = (JedisConnectionFactory) redis.fenceAny(original);
			checkFenced(new StringRedisTemplate(factory));
			factory.destroy();
		}
	}

	private static void checkFenced(StringRedisTemplate template) throws Exception {
		Held held = FencedRedis.next("topology");
		OperationContext older = FencedRedis.operation(held);
		FencedRedis.in(older, () -> template.opsForValue().setIfAbsent("test:topology", "older"));
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("topology")),
				() -> template.opsForValue().get("test:topology"));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> FencedRedis.in(older, () -> template.delete("test:topology")));
		assertThat(template.opsForValue().get("test:topology")).isEqualTo("older");
		template.delete("test:topology");
	}

	@Test
	void whenLettuceIsNotThereThenJedisIsFenced() throws Exception {
		URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !entry.contains("lettuce"))
			.map(JedisTopologyTests::url)
			.toArray(URL[]::new);
		try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
			assertThatExceptionOfType(ClassNotFoundException.class)
				.isThrownBy(() -> loader.loadClass("io.lettuce.core.RedisClient"));
			Callable<?> run = (Callable<?>) loader.loadClass(WithoutLettuce.class.getName())
				.getConstructor(String.class, String.class)
				.newInstance(TestServers.redisUrl(), "test:without-lettuce");
			assertThat(run.call()).isEqualTo("newer " + RejectionReason.STALE);
		}
	}

	private static URL url(String entry) {
		try {
			return new File(entry).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException(ex);
		}
	}

}
