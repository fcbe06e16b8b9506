package io.fencing.fence.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.Protocol;
import org.redisson.spring.data.connection.RedissonConnection;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import redis.embedded.RedisServer;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The rules of DESIGN.md §2 on the connection factory of Redisson.
 */
@DisabledIfSystemProperty(named = OtherSpringBoot.PROPERTY, matches = "true",
		disabledReason = OtherSpringBoot.NO_REDISSON)
class RedissonFactoryFenceTests {

	private static RedissonConnectionFactory original;

	private final FencedRedis redis = new FencedRedis();

	private final String key = this.redis.key("a");

	private final RedisConnectionFactory factory = fence(original);

	private final StringRedisTemplate template = new StringRedisTemplate(this.factory);

	@BeforeAll
	static void start() throws Exception {
		original = newFactory(TestServers.redisUrl(), 0);
		original.afterPropertiesSet();
	}

	@AfterAll
	static void stop() throws Exception {
		original.destroy();
	}

	@AfterEach
	void close() {
		this.redis.close();
	}

	static RedissonConnectionFactory newFactory(String url, int database) {
		return newFactory(url, database, Protocol.RESP2);
	}

	private static RedissonConnectionFactory newFactory(String url, int database, Protocol protocol) {
		Config config = new Config();
		config.setProtocol(protocol);
		config.useSingleServer()
			.setAddress(url)
			.setDatabase(database)
			.setConnectionMinimumIdleSize(4)
			.setConnectionPoolSize(8);
		return new RedissonConnectionFactory(config);
	}

	private RedisConnectionFactory fence(RedissonConnectionFactory factory) {
		return (RedisConnectionFactory) this.redis.postProcessor(UnfencedWrites.ALLOW)
			.postProcessAfterInitialization(factory, "redisson");
	}

	private Held next() {
		return FencedRedis.next(this.key);
	}

	private boolean set(String value) {
		this.template.opsForValue().set(this.key, value);
		return true;
	}

	private String get() {
		return this.template.opsForValue().get(this.key);
	}

	private String stored() {
		return this.redis.plain().opsForValue().get(this.key);
	}

	private void takeOver() {
		FencedRedis.elsewhere(() -> FencedRedis.in(FencedRedis.operation(next()), this::get));
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	@Test
	void whenOnlyObservedThenCommandsPassAndWhatCannotBeFencedIsCounted() throws Exception {
		FencedRedis.in(FencedRedis.observed(next()), () -> {
			set("1");
			assertThat(get()).isEqualTo("1");
			this.template.executePipelined(
					(RedisCallback<?>) (connection) -> connection.stringCommands().incr(this.key.getBytes()));
			assertThat(this.redis.events()).containsExactly("observed redis UNKNOWN");
			assertThat(this.template.opsForList().leftPop(this.key + "-list", Duration.ofMillis(10))).isNull();
			return this.template
				.execute((RedisCallback<?>) (connection) -> String.valueOf(connection.getNativeConnection()));
		});
		assertThat(stored()).isEqualTo("2");
		assertThat(this.redis.events()).containsExactly("observed redis UNKNOWN", "observed redis REFUSED",
				"observed redis REFUSED");
	}

	@Test
	void whenFactoryIsFencedThenItKeepsItsClassAndThatOfItsConnections() {
		assertThat(this.factory).isInstanceOf(RedissonConnectionFactory.class);
		assertThat(this.factory.getConnection()).isInstanceOf(RedissonConnection.class);
	}

	@Test
	void whenOutsideOfOperationThenNoGuardIsMade() {
		set("1");
		assertThat(stored()).isEqualTo("1");
		assertThat(this.redis.events()).isEmpty();
	}

	@Test
	void rule1WhenFirstAccessReadsThenGuardIsRaisedBeforeIt() throws Exception {
		Held held = next();
		this.redis.plain().opsForValue().set(this.key, "1");
		FencedRedis.in(FencedRedis.operation(held), () -> assertThat(get()).isEqualTo("1"));
		assertThat(this.redis.plain().opsForValue().get(this.redis.guard(held)))
			.isEqualTo(held.token().value() + ":" + held.token().owner());
		assertThat(this.redis.events()).containsExactly("admitted redis");
	}

	@Test
	void whenNewerHolderHasStartedThenStaleWriteChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> set("older"));
		takeOver();
		assertThat(stale(() -> FencedRedis.in(older, () -> set("late"))).getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isEqualTo("older");
	}

	@Test
	void whenStaleThenCallerGetsTheExceptionUnwrapped() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		takeOver();
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> set("late"));
		}
		assertThat(stored()).isNull();
	}

	@Test
	void case69WhenGuardIsDeletedThenStaleAndNeverRaisedAgain() throws Exception {
		Held held = next();
		Held other = FencedRedis.next(this.key + ":other");
		OperationContext context = FencedRedis.operation(held, other);
		FencedRedis.in(context, this::get);
		this.redis.plain().delete(this.redis.guard(other));
		assertThat(stale(() -> FencedRedis.in(context, () -> set("again"))).getReason())
			.isEqualTo(RejectionReason.MISSING);
		assertThat(stored()).isNull();
		assertThat(this.redis.plain().hasKey(this.redis.guard(other))).isFalse();
	}

	@Test
	void whenTokenIsOlderThanRetentionThenExpired() {
		Held old = FencedRedis.of(this.key, (System.currentTimeMillis() - 8 * 86_400_000L) * 1000);
		assertThat(stale(() -> FencedRedis.in(FencedRedis.operation(old), () -> set("old"))).getReason())
			.isEqualTo(RejectionReason.EXPIRED);
	}

	@Test
	void case51WhenScriptsAreForgottenThenNextCommandsWork() throws Exception {
		RedisCallback<?> flush = (connection) -> {
			connection.scriptingCommands().scriptFlush();
			return null;
		};
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			set("1");
			this.redis.plain().execute(flush);
			set("2");
			assertThat(this.template.executePipelined((RedisCallback<?>) (connection) -> {
				connection.stringCommands().incr(this.key.getBytes());
				this.redis.plain().execute(flush);
				connection.stringCommands().incr(this.key.getBytes());
				return null;
			})).containsExactly(3L, 4L);
			return true;
		});
		assertThat(stored()).isEqualTo("4");
	}

	@Test
	void whenTakenOverBeforePipelineIsClosedThenNothingIsWrittenAndCallerGetsTheRefusal() {
		OperationContext older = FencedRedis.operation(next());
		try (OperationContext.Scope scope = older.open()) {
			get();
			assertThat(stale(() -> this.template.executePipelined((RedisCallback<?>) (connection) -> {
				connection.stringCommands().incr(this.key.getBytes());
				takeOver();
				connection.stringCommands().incr(this.key.getBytes());
				return null;
			})).getReason()).isEqualTo(RejectionReason.STALE);
		}
		assertThat(stored()).isNull();
	}

	@Test
	void whenPipelineWasOpenedOutsideThenCommandIsRefused() {
		OperationContext context = FencedRedis.operation(next());
		this.template.executePipelined((RedisCallback<?>) (connection) -> {
			try (OperationContext.Scope scope = context.open()) {
				assertThatExceptionOfType(UnfencedWriteException.class)
					.isThrownBy(() -> connection.stringCommands().incr(this.key.getBytes()))
					.withMessageContaining("begin it inside");
			}
			return null;
		});
		assertThat(stored()).isNull();
	}

	@Test
	void whenTransactionIsBegunThenItsCommandsAreRefused() throws Exception {
		this.template.execute(new InTransaction(() -> {
		}, this.key));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> FencedRedis
			.in(FencedRedis.operation(next()), () -> this.template.execute(new InTransaction(() -> {
			}, this.key)))).withMessageContaining("pipeline");
		assertThat(stored()).isEqualTo("2");
		set("3");
	}

	@Test
	void whenServerRefusesThenCallerGetsItsError() throws Exception {
		this.redis.plain().opsForList().rightPush(this.key, "a");
		Throwable plain = Assertions.catchThrowable(() -> this.template.opsForValue().increment(this.key));
		FencedRedis.in(FencedRedis.operation(next()),
				() -> assertThat(Assertions.catchThrowable(() -> this.template.opsForValue().increment(this.key)))
					.hasSameClassAs(plain)
					.hasMessageStartingWith("WRONGTYPE"));
	}

	@Test
	void whenUserScriptRunsThenItIsFenced() throws Exception {
		RedisScript<Long> script = RedisScript.of("redis.call('SET', KEYS[1], ARGV[1]) return #KEYS + #ARGV",
				Long.class);
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(this.template.execute(script, List.of(this.key), "1")).isEqualTo(2);
			assertThat(this.template.execute(script, List.of(this.key), "1")).isEqualTo(2);
			return true;
		});
		stale(() -> FencedRedis.in(older, () -> this.template.execute(script, List.of(this.key), "2")));
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenCommandCannotBeFencedThenItIsRefusedWithTheAlternative() {
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()),
					() -> this.template.opsForList().leftPop(this.key, Duration.ofSeconds(1))))
			.withMessageContaining("'BLPOP'");
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()),
					() -> this.template.execute((RedisCallback<?>) RedisConnection::getNativeConnection)))
			.withMessageContaining("past the fence");
	}

	@Test
	void whenConnectionIsReactiveOrSpeaksResp3ThenItIsRefused() throws Exception {
		RedissonConnectionFactory resp3 = newFactory(TestServers.redis7Url(), 0, Protocol.RESP3);
		resp3.afterPropertiesSet();
		StringRedisTemplate other = new StringRedisTemplate(fence(resp3));
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()), () -> other.opsForValue().get(this.key)))
			.withMessageContaining("RESP3");
		FencedRedis.in(FencedRedis.observed(next()), () -> other.opsForValue().get(this.key));
		assertThat(this.redis.events()).endsWith("observed redis REFUSED");
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()),
					() -> ((RedissonConnectionFactory) this.factory).getReactiveConnection().stringCommands()))
			.withMessageContaining("reactive");
		resp3.destroy();
	}

	// Redisson knows by its name that INCR must not be sent twice
	@Test
	void whenServerDoesNotAnswerThenCommandIsSentOnce() throws Exception {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		server.start();
		Config config = new Config();
		config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(1)
			.setTimeout(200)
			.setRetryAttempts(3);
		RedissonConnectionFactory once = new RedissonConnectionFactory(config);
		once.afterPropertiesSet();
		StringRedisTemplate other = new StringRedisTemplate(fence(once));
		RedisConsole console = new RedisConsole(port);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			other.opsForValue().increment("before");
			console.send("CLIENT PAUSE 1500 ALL");
			return assertThatExceptionOfType(QueryTimeoutException.class)
				.isThrownBy(() -> other.opsForValue().increment("once"));
		});
		await().until(() -> "1".equals(console.send("GET once")));
		once.destroy();
		server.stop();
	}

	@Test
	void whenScriptWasLoadedThenItRunsByItsNameAndIsFenced() throws Exception {
		byte[] source = "return redis.call('INCR', KEYS[1])".getBytes();
		RedisCallback<String> load = (connection) -> connection.scriptingCommands().scriptLoad(source);
		String sha = this.template.execute(load);
		RedisCallback<?> run = (connection) -> connection.scriptingCommands()
			.evalSha(sha, ReturnType.INTEGER, 1, this.key.getBytes());
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> assertThat(this.template.execute(run)).isEqualTo(1L));
		takeOver();
		stale(() -> FencedRedis.in(older, () -> this.template.execute(run)));
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenClientWasTakenFromTheConnectionBeforeThenItsCommandsAreFenced() throws Exception {
		RMap<String, String> map;
		try (RedisConnection connection = this.factory.getConnection()) {
			map = ((RedissonClient) connection.getNativeConnection()).getMap(this.key + ":map", StringCodec.INSTANCE);
		}
		map.put("a", "plain");
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> assertThat(map.put("a", "older")).isEqualTo("plain"));
		takeOver();
		// sent as a script, and as a command
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> map.put("a", "late"));
			stale(() -> map.fastPut("b", "late"));
		}
		assertThat(this.redis.plain().opsForHash().entries(this.key + ":map")).isEqualTo(Map.of("a", "older"));
	}

}
