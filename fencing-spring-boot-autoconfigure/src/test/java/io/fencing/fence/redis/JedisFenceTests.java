package io.fencing.fence.redis;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import io.lettuce.core.RedisURI;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.DefaultStringRedisConnection;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rules of DESIGN.md §2 on Jedis, with its pooled client and with single connections.
 */
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass
@ValueSource(booleans = { true, false })
class JedisFenceTests {

	private final FencedRedis redis = new FencedRedis();

	private final String key = this.redis.key("a");

	private final JedisConnectionFactory factory;

	private final StringRedisTemplate template;

	JedisFenceTests(boolean unified) throws Exception {
		this.factory = (JedisConnectionFactory) this.redis.fenceAny(newFactory(TestServers.redisUrl(), unified, 0));
		this.template = new StringRedisTemplate(this.factory);
	}

	static JedisConnectionFactory newFactory(String url, boolean unified, int database) {
		RedisURI uri = RedisURI.create(url);
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(uri.getHost(), uri.getPort());
		configuration.setDatabase(database);
		JedisConnectionFactory factory = new JedisConnectionFactory(configuration);
		// Spring Data Redis 4.0 has single connections only
		Method method = ReflectionUtils.findMethod(JedisConnectionFactory.class, "setUseUnifiedJedis", boolean.class);
		if (method != null) {
			ReflectionUtils.invokeMethod(method, factory, unified);
		}
		return factory;
	}

	@AfterEach
	void close() {
		this.factory.destroy();
		this.redis.close();
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

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	private void takeOver() {
		FencedRedis.elsewhere(() -> FencedRedis.in(FencedRedis.operation(next()), this::get));
	}

	@Test
	void whenFactoryIsFencedThenItKeepsItsClassAndThatOfItsConnections() {
		assertThat(this.factory).isInstanceOf(JedisConnectionFactory.class);
		try (RedisConnection connection = this.factory.getConnection()) {
			assertThat(connection).isInstanceOf(JedisConnection.class);
		}
	}

	@Test
	void whenFactoryIsOfAClusterThenStartTellsThatItIsRefused(CapturedOutput output) {
		this.redis.postProcessor(UnfencedWrites.ALLOW)
			.postProcessAfterInitialization(
					new JedisConnectionFactory(new RedisClusterConfiguration(List.of("127.0.0.1:1"))), "orders");
		assertThat(output).contains("Redis connection factory 'orders' is refused inside of operations")
			.contains("fencing.redis.factories");
	}

	@Test
	void whenOutsideOfOperationThenNoGuardIsMade() {
		set("1");
		this.template
			.executePipelined((RedisCallback<?>) (connection) -> connection.stringCommands().incr(this.key.getBytes()));
		this.template.execute(new InTransaction(() -> {
		}, this.key));
		assertThat(stored()).isEqualTo("4");
		assertThat(this.redis.events()).isEmpty();
	}

	@Test
	void rule1WhenFirstAccessReadsThenGuardIsRaisedBeforeIt() throws Exception {
		Held held = next();
		this.redis.plain().opsForValue().set(this.key, "1");
		FencedRedis.in(FencedRedis.operation(held), () -> assertThat(get()).isEqualTo("1"));
		assertThat(this.redis.plain().opsForValue().get(this.redis.guard(held)))
			.isEqualTo(held.token().value() + ":" + held.token().owner());
		assertThat(this.redis.plain().getExpire(this.redis.guard(held))).isBetween(7 * 86400 - 60L, 7 * 86400 + 60L);
		assertThat(this.redis.events()).containsExactly("admitted redis");
	}

	@Test
	void whenNewerHolderHasStartedThenStaleWriteChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> set("older"));
		takeOver();
		assertThat(stale(() -> FencedRedis.in(older, () -> set("late"))).getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isEqualTo("older");
		assertThat(this.redis.events()).contains("rejected redis STALE");
	}

	@Test
	void whenOlderHolderStartsLateThenItsFirstWriteChangesNothing() {
		OperationContext older = FencedRedis.operation(next());
		takeOver();
		assertThat(stale(() -> FencedRedis.in(older, () -> set("late"))).getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isNull();
	}

	// the guards are fenced for all drivers alike
	@Test
	void whenNewerHolderUsesLettuceThenStaleWriteOnJedisChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> set("older"));
		FencedRedis.in(FencedRedis.operation(next()), () -> this.redis.template().opsForValue().get(this.key));
		stale(() -> FencedRedis.in(older, () -> set("late")));
		assertThat(stored()).isEqualTo("older");
	}

	// rule 4: somebody claims after the check and before EXEC
	@Test
	void rule4WhenTakenOverBetweenCheckAndExecThenStaleWriteChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, this::get);
		assertThat(stale(() -> FencedRedis.in(older, () -> this.template.execute((RedisCallback<?>) (connection) -> {
			// written while the command is being queued
			connection.stringCommands().mSet(new TakingOver(this.key, "late", this::takeOver));
			return null;
		}))).getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isNull();
	}

	@Test
	void rule2WhenEqualTokenOfAnotherOwnerThenStale() throws Exception {
		Held one = next();
		FencedRedis.in(FencedRedis.operation(one), this::get);
		Held other = FencedRedis.of(this.key, one.token().value());
		assertThat(stale(() -> FencedRedis.in(FencedRedis.operation(other), () -> set("other"))).getReason())
			.isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isNull();
	}

	// case 69, rule 3
	@Test
	void case69WhenGuardIsDeletedThenStaleAndNeverRaisedAgain() throws Exception {
		for (int gone = 0; gone < 2; gone++) {
			List<Held> held = List.of(next(), FencedRedis.next(this.key + ":other"));
			OperationContext context = FencedRedis.operation(held.get(0), held.get(1));
			FencedRedis.in(context, this::get);
			String guard = this.redis.guard(held.get(gone));
			this.redis.plain().delete(guard);
			assertThat(stale(() -> FencedRedis.in(context, () -> set("again"))).getReason())
				.isEqualTo(RejectionReason.MISSING);
			assertThat(stored()).isNull();
			assertThat(this.redis.plain().hasKey(guard)).isFalse();
		}
	}

	@Test
	void whenTokenIsOlderThanRetentionThenExpired() {
		Held old = FencedRedis.of(this.key, (System.currentTimeMillis() - 8 * 86_400_000L) * 1000);
		assertThat(stale(() -> FencedRedis.in(FencedRedis.operation(old), () -> set("old"))).getReason())
			.isEqualTo(RejectionReason.EXPIRED);
		assertThat(stored()).isNull();
	}

	@Test
	void rule9WhenLeaseIsLostThenCommandIsNotSent() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, this::get);
		held.lose();
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> FencedRedis.in(context, () -> set("late")));
		assertThat(stored()).isNull();
	}

	// case 51
	@Test
	void case51WhenScriptsAreForgottenThenNextCommandWorks() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			set("1");
			this.redis.plain().execute((RedisCallback<?>) (connection) -> {
				connection.scriptingCommands().scriptFlush();
				return null;
			});
			return set("2");
		});
		assertThat(stored()).isEqualTo("2");
	}

	@Test
	void whenPipelinedThenResultsAreThoseOfAPipeline() throws Exception {
		RedisCallback<?> commands = (connection) -> {
			assertThat(connection.isPipelined()).isTrue();
			assertThat(connection.isQueueing()).isFalse();
			connection.stringCommands().set(this.key.getBytes(), "7".getBytes());
			connection.stringCommands().incr(this.key.getBytes());
			connection.stringCommands().get(this.key.getBytes());
			connection.keyCommands().expire(this.key.getBytes(), 100);
			connection.stringCommands().get("absent".getBytes());
			return null;
		};
		List<Object> plain = this.template.executePipelined(commands);
		FencedRedis.in(FencedRedis.operation(next()),
				() -> assertThat(this.template.executePipelined(commands)).isEqualTo(plain).hasSize(5));
		FencedRedis.in(FencedRedis.operation(next()),
				() -> assertThat(this.template.executePipelined((RedisCallback<?>) (connection) -> null))
					.isEqualTo(List.of()));
	}

	@Test
	void whenTakenOverBeforePipelineIsClosedThenNothingIsWrittenAndCallerGetsTheRefusal() {
		OperationContext older = FencedRedis.operation(next());
		assertThat(stale(
				() -> FencedRedis.in(older, () -> this.template.executePipelined((RedisCallback<?>) (connection) -> {
					connection.stringCommands().incr(this.key.getBytes());
					takeOver();
					connection.stringCommands().incr(this.key.getBytes());
					return null;
				})))
			.getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isNull();
	}

	@Test
	void whenCommandOfPipelineFailsThenPipelineFails() throws Exception {
		this.redis.plain().opsForList().rightPush(this.key, "a");
		RedisCallback<?> command = (connection) -> connection.stringCommands().incr(this.key.getBytes());
		Throwable plain = Assertions.catchThrowable(() -> this.template.executePipelined(command));
		assertThat(plain).isInstanceOf(RedisPipelineException.class);
		FencedRedis.in(FencedRedis.operation(next()),
				() -> assertThatExceptionOfType(RedisPipelineException.class)
					.isThrownBy(() -> this.template.executePipelined(command))
					.withMessage(plain.getMessage()));
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
	void whenRefusedAfterTheEndThenItIsCountedAndTold(CapturedOutput output) {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		context.end();
		held.lose();
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> FencedRedis.in(context, () -> set("late")));
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> FencedRedis.in(context, () -> set("late")));
		assertThat(output.getOut()).containsOnlyOnce("which hears nothing of it: Operation 'withdraw' on resource #")
			.doesNotContain(this.key);
		assertThat(this.redis.events()).containsExactly("rejected redis LOST");
	}

	@Test
	void case74WhenTakenOverBeforeExecThenNothingRunsAndCallerGetsTheRefusal() throws Exception {
		set("0");
		FencedRedis.in(FencedRedis.operation(next()), () -> assertThat(this.template.execute(new InTransaction(() -> {
		}, this.key))).containsExactly(1L, 2L, true));
		set("0");
		OperationContext older = FencedRedis.operation(next());
		stale(() -> FencedRedis.in(older, () -> this.template.execute(new InTransaction(this::takeOver, this.key))));
		assertThat(stored()).isEqualTo("0");
	}

	@Test
	void whenTransactionIsDiscardedThenNextCommandWorks() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			this.template.execute(new Discarded(this.key));
			return set("1");
		});
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenKeyThatTheCallerWatchesChangesThenExecAnswersAsEver() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> this.template.execute((RedisCallback<?>) (connection) -> {
			byte[] name = this.key.getBytes();
			connection.watch(name);
			assertThat(connection.stringCommands().get(name)).isNull();
			this.redis.plain().opsForValue().set(this.key, "other");
			connection.multi();
			connection.stringCommands().set(name, "mine".getBytes());
			assertThat(connection.exec()).isNull();
			connection.watch(name);
			connection.multi();
			connection.stringCommands().set(name, "mine".getBytes());
			assertThat(connection.exec()).isNotEmpty();
			return null;
		}));
		assertThat(stored()).isEqualTo("mine");
	}

	@Test
	void whenWriteWouldEndTheWatchOfTheCallerThenItIsRefused() {
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> FencedRedis
			.in(FencedRedis.operation(next()), () -> this.template.execute((RedisCallback<?>) (connection) -> {
				connection.watch(this.key.getBytes());
				return connection.stringCommands().set(this.key.getBytes(), "1".getBytes());
			}))).withMessageContaining("WATCH");
		assertThat(stored()).isNull();
	}

	@Test
	void whenTemplateIsBoundToATransactionThenLateRefusalBelongsToTheOperation() throws Exception {
		this.template.setEnableTransactionSupport(true);
		TransactionTemplate transaction = new TransactionTemplate(new NoTransactions());
		FencedRedis.in(FencedRedis.operation(next()), () -> transaction.execute((status) -> set("committed")));
		assertThat(stored()).isEqualTo("committed");
		OperationContext older = FencedRedis.operation(next());
		stale(() -> FencedRedis.in(older, () -> transaction.execute((status) -> {
			set("late");
			takeOver();
			return true;
		})));
		assertThat(stored()).isEqualTo("committed");
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	@Test
	void whenServerRefusesThenCallerGetsItsErrorUnchanged() throws Exception {
		this.redis.plain().opsForList().rightPush(this.key, "a");
		RedisCallback<?> unknown = (connection) -> connection.execute("NONSENSE", new byte[0]);
		Throwable plain = Assertions.catchThrowable(() -> this.template.opsForValue().increment(this.key));
		Throwable plainUnknown = Assertions.catchThrowable(() -> this.template.execute(unknown));
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(Assertions.catchThrowable(() -> this.template.opsForValue().increment(this.key)))
				.hasSameClassAs(plain)
				.hasMessage(plain.getMessage());
			assertThat(Assertions.catchThrowable(() -> this.template.execute(unknown))).hasSameClassAs(plainUnknown)
				.hasMessage(plainUnknown.getMessage());
			return true;
		});
	}

	@Test
	void whenCommandsAreReadOrScannedThenResultsAreThere() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(this.template.opsForSet().add(this.key, "a", "b")).isEqualTo(2);
			try (Cursor<String> cursor = this.template.opsForSet().scan(this.key, ScanOptions.NONE)) {
				assertThat(cursor.stream()).containsExactlyInAnyOrder("a", "b");
			}
			assertThat(this.template.opsForSet().pop(this.key)).isIn("a", "b");
			assertThat(this.template.opsForValue().setIfAbsent(this.key, "x")).isFalse();
			assertThat(this.template.opsForValue().getAndDelete(this.key + ":absent")).isNull();
			assertThat(this.template.opsForValue().increment(this.key + ":n", Long.MAX_VALUE))
				.isEqualTo(Long.MAX_VALUE);
			return true;
		});
	}

	@Test
	void whenUserScriptRunsThenItIsFenced() throws Exception {
		RedisScript<String> script = RedisScript
			.of("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])", String.class);
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(FencedRedis.operation(next()),
				() -> assertThat(this.template.execute(script, List.of(this.key), "1")).isEqualTo("1"));
		stale(() -> FencedRedis.in(older, () -> this.template.execute(script, List.of(this.key), "2")));
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenCommandCannotBeFencedThenItIsRefusedWithTheAlternative() {
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()),
					() -> this.template.opsForList().leftPop(this.key, Duration.ofSeconds(1))))
			.withMessageContaining("'BLPOP'")
			.withMessageContaining("poll");
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(next()),
					() -> this.template.execute((RedisCallback<?>) RedisConnection::getNativeConnection)))
			.withMessageContaining("past the fence");
	}

	@Test
	void whenOperationsAreManyThenConnectionsGoBackToThePool() throws Exception {
		for (int i = 0; i < 30; i++) {
			OperationContext older = FencedRedis.operation(next());
			FencedRedis.in(FencedRedis.operation(next()), () -> set("1"));
			stale(() -> FencedRedis.in(older, () -> set("late")));
			stale(() -> FencedRedis.in(older, () -> this.template.execute(new InTransaction(() -> {
			}, this.key))));
			FencedRedis.in(FencedRedis.operation(next()), () -> this.template.execute(new Discarded(this.key)));
		}
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenResultsOfTransactionsAreNotConvertedThenThoseOfCommandsAre() throws Exception {
		this.factory.setConvertPipelineAndTxResults(false);
		RedisCallback<?> pipelined = (connection) -> connection.keyCommands().exists(this.key.getBytes());
		List<Object> plain = this.template.executePipelined(pipelined);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(this.template.opsForZSet().add(this.key, "m", 1.5)).isTrue();
			assertThat(this.template.opsForZSet().incrementScore(this.key, "m", 1)).isEqualTo(2.5);
			this.template.delete(this.key);
			assertThat(this.template.executePipelined(pipelined)).isEqualTo(plain);
			return true;
		});
	}

	@Test
	void whenTransactionWouldBeEndedByItsCommandsThenTheyAreRefused() {
		for (String command : List.of("EXEC", "DISCARD", "RESET", "UNWATCH", "MULTI")) {
			OperationContext context = FencedRedis.operation(next());
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(
					() -> FencedRedis.in(context, () -> this.template.execute((RedisCallback<?>) (connection) -> {
						connection.multi();
						try {
							return connection.execute(command);
						}
						finally {
							takeOver();
							Assertions.catchThrowable(
									() -> connection.stringCommands().set(this.key.getBytes(), command.getBytes()));
							Assertions.catchThrowable(connection::exec);
						}
					})))
				.withMessageContaining("'" + command + "'");
			assertThat(stored()).isNull();
		}
	}

	@Test
	void whenCommandsAreCalledOnTheConnectionItselfThenTheyAreFenced() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, this::get);
		takeOver();
		byte[] name = this.key.getBytes();
		List<RedisCallback<?>> writes = List.of((connection) -> connection.commands().set(name, name),
				(connection) -> connection.execute("set", name, name),
				(connection) -> new DefaultStringRedisConnection(connection).set(this.key, "late"),
				(connection) -> new DefaultStringRedisConnection(connection).commands().set(name, name));
		for (RedisCallback<?> write : writes) {
			stale(() -> FencedRedis.in(older, () -> this.template.execute(write)));
		}
		assertThat(stored()).isNull();
	}

	@Test
	void rule1WhenWatchIsNotSentThenNothingCountsAsClaimed() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		takeOver();
		this.template.executePipelined((RedisCallback<?>) (connection) -> {
			try (OperationContext.Scope scope = older.open()) {
				Assertions.catchThrowable(() -> connection.watch(this.key.getBytes()));
			}
			stale(() -> FencedRedis.in(older, this::get));
			return null;
		});
	}

	// the guards that are watched are in the database of before
	@Test
	void whenDatabaseIsChangedBehindTheFenceThenItIsRefused() throws Exception {
		OperationContext context = FencedRedis.operation(next());
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(context, () -> this.template.execute((RedisCallback<?>) (connection) -> {
				connection.multi();
				connection.execute("select", "5".getBytes());
				connection.stringCommands().set(this.key.getBytes(), "1".getBytes());
				return connection.exec();
			})))
			.withMessageContaining("'SELECT'");
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> FencedRedis
			.in(FencedRedis.operation(next()), () -> this.template.execute((RedisCallback<?>) (connection) -> {
				connection.multi();
				connection.select(5);
				connection.stringCommands().set(this.key.getBytes(), "1".getBytes());
				return connection.exec();
			}))).withMessageContaining("before the pipeline or transaction begins");
		JedisConnectionFactory other = newFactory(TestServers.redisUrl(), true, 5);
		FencedRedis.startAny(other);
		assertThat(new StringRedisTemplate(other).hasKey(this.key)).isFalse();
		other.destroy();
	}

}
