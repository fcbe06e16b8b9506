package io.fencing.fence.redis;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.embedded.RedisServer;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What becomes of Jedis's pooled connections when a fenced command fails half-way: with a
 * pool of one, whatever is left behind meets the next command.
 */
@ParameterizedClass
@ValueSource(booleans = { true, false })
class JedisPoolTests {

	private final FencedRedis redis = new FencedRedis();

	private final boolean unified;

	private RedisServer server;

	private RedisConsole console;

	private JedisConnectionFactory factory;

	private StringRedisTemplate template;

	JedisPoolTests(boolean unified) {
		this.unified = unified;
	}

	@BeforeEach
	void start() throws Exception {
		int port = TestServers.freePort();
		this.server = TestServers.newRedis(port);
		this.server.start();
		this.console = new RedisConsole(port);
		GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		pool.setMaxWait(Duration.ofSeconds(2));
		JedisConnectionFactory original = new JedisConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				JedisClientConfiguration.builder()
					.readTimeout(Duration.ofMillis(500))
					.usePooling()
					.poolConfig(pool)
					.build());
		// Spring Data Redis 4.0 has pooled Jedis clients only
		Method method = ReflectionUtils.findMethod(JedisConnectionFactory.class, "setUseUnifiedJedis", boolean.class);
		if (method != null) {
			ReflectionUtils.invokeMethod(method, original, this.unified);
		}
		this.factory = (JedisConnectionFactory) this.redis.fenceAny(original);
		this.template = new StringRedisTemplate(this.factory);
	}

	@AfterEach
	void stop() throws Exception {
		this.factory.destroy();
		this.server.stop();
		this.redis.close();
	}

	private static OperationContext operation() {
		return FencedRedis.operation(FencedRedis.next("pool"));
	}

	private boolean set(String value) {
		this.template.opsForValue().set("a", value);
		return true;
	}

	// neither refused nor tried again: it may have run
	@Test
	void whenExecIsNotAnsweredThenItIsATimeoutAndCommandIsSentOnce() throws Exception {
		OperationContext context = operation();
		Throwable plain = Assertions.catchThrowable(() -> this.template.execute((RedisCallback<?>) (connection) -> {
			this.console.send("CLIENT PAUSE 1500 ALL");
			return connection.stringCommands().incr("plain".getBytes());
		}));
		this.console.send("PING");
		AtomicInteger queued = new AtomicInteger();
		Throwable fenced = Assertions.catchThrowable(
				() -> FencedRedis.in(context, () -> this.template.execute((RedisCallback<?>) (connection) -> {
					connection.multi();
					connection.stringCommands().incr("a".getBytes());
					queued.incrementAndGet();
					this.console.send("CLIENT PAUSE 1500 ALL");
					return connection.exec();
				})));
		assertThat(fenced).isNotNull().hasSameClassAs(plain);
		assertThat(context.getRefusal()).isNull();
		this.console.send("PING");
		Throwable late = Assertions.catchThrowable(
				() -> FencedRedis.in(context, () -> this.template.execute((RedisCallback<?>) (connection) -> {
					connection.stringCommands().mSet(new TakingOver("b", "1", () -> {
						queued.incrementAndGet();
						this.console.send("CLIENT PAUSE 1500 ALL");
					}));
					return null;
				})));
		assertThat(late).isNotNull().hasSameClassAs(plain);
		assertThat(context.getRefusal()).isNull();
		assertThat(queued).hasValue(2);
		this.console.send("PING");
		FencedRedis.in(context, () -> set("next"));
		assertThat(this.console.send("GET a")).isEqualTo("next");
	}

	@Test
	void whenCommandFailsHalfWayThenPoolsConnectionIsClean() throws Exception {
		byte[] name = "a".getBytes();
		List<RedisCallback<?>> failing = List.of((connection) -> connection.stringCommands().set(name, null),
				(connection) -> connection.execute("NONSENSE", name), (connection) -> {
					connection.multi();
					connection.stringCommands().set(name, null);
					return connection.exec();
				}, (connection) -> {
					connection.openPipeline();
					throw new IllegalStateException("left open");
				}, (connection) -> {
					connection.watch(name);
					throw new IllegalStateException("left watching");
				}, (connection) -> {
					connection.watch(name);
					connection.multi();
					connection.stringCommands().set(name, "left".getBytes());
					throw new IllegalStateException("left in MULTI");
				}, (connection) -> {
					connection.multi();
					connection.execute("NONSENSE", name);
					return connection.exec();
				}, (connection) -> {
					this.console.send("CLIENT KILL TYPE normal SKIPME yes");
					return connection.stringCommands().set(name, "killed".getBytes());
				}, (connection) -> {
					connection.multi();
					this.console.send("CLIENT KILL TYPE normal SKIPME yes");
					connection.stringCommands().set(name, "killed".getBytes());
					return connection.exec();
				});
		for (int i = 0; i < failing.size(); i++) {
			RedisCallback<?> call = failing.get(i);
			for (int times = 0; times < 2; times++) {
				String value = i + "." + times;
				assertThatExceptionOfType(Exception.class).as(value)
					.isThrownBy(() -> FencedRedis.in(operation(), () -> this.template.execute(call)));
				// nothing is left of what was queued, watched or counted
				this.template.opsForValue().set("a", "plain");
				assertThat(this.template.opsForValue().get("a")).as(value).isEqualTo("plain");
				FencedRedis.in(operation(), () -> set(value));
				assertThat(this.console.send("GET a")).isEqualTo(value);
			}
		}
		OperationContext older = operation();
		FencedRedis.in(operation(), () -> set("newer"));
		for (int times = 0; times < 3; times++) {
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> FencedRedis.in(older, () -> set("late")));
		}
		assertThat(this.console.send("GET a")).isEqualTo("newer");
	}

}
