package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Pipelines, whose commands share scripts, at every server and in both protocols.
 */
@ParameterizedClass
@MethodSource("servers")
class PipelineTests {

	private static final int MANY = 250;

	private final FencedRedis redis;

	private final String key;

	PipelineTests(String url, ProtocolVersion protocol) {
		this.redis = new FencedRedis(url, protocol, UnfencedWrites.ALLOW);
		this.key = this.redis.key("a");
	}

	static List<Object[]> servers() {
		return List.of(new Object[] { TestServers.redisUrl(), ProtocolVersion.RESP2 },
				new Object[] { TestServers.redisUrl(), ProtocolVersion.RESP3 },
				new Object[] { TestServers.redis7Url(), ProtocolVersion.RESP2 },
				new Object[] { TestServers.redis7Url(), ProtocolVersion.RESP3 });
	}

	@AfterEach
	void close() {
		this.redis.close();
	}

	private Held next() {
		return FencedRedis.next(this.key);
	}

	private String stored() {
		return this.redis.plain().opsForValue().get(this.key);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static List<Object> pipeline(LettuceConnectionFactory factory, Consumer<RedisConnection> commands) {
		try (RedisConnection connection = factory.getConnection()) {
			connection.openPipeline();
			commands.accept(connection);
			return connection.closePipeline();
		}
	}

	private List<Object> pipeline(Consumer<RedisConnection> commands) {
		return pipeline(this.redis.factory(), commands);
	}

	private void increment(RedisConnection connection, int times) {
		for (int i = 0; i < times; i++) {
			connection.stringCommands().incr(bytes(this.key));
		}
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	private void forgetScripts() {
		this.redis.plain().execute((RedisCallback<?>) (connection) -> {
			connection.scriptingCommands().scriptFlush();
			return null;
		});
	}

	@Test
	void whenPipelineIsLongThenAllAnswersComeInOrder() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(pipeline((connection) -> increment(connection, MANY)))
				.containsExactlyElementsOf(LongStream.rangeClosed(1, MANY).boxed().toList());
			return true;
		});
	}

	// rules 1 and 4
	@Test
	void rule4WhenNewerHolderHasStartedThenPipelineChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(FencedRedis.operation(next()), () -> this.redis.template().opsForValue().get(this.key));
		try (OperationContext.Scope scope = older.open()) {
			assertThat(stale(() -> pipeline((connection) -> increment(connection, MANY))).getReason())
				.isEqualTo(RejectionReason.STALE);
		}
		assertThat(stored()).isNull();
		assertThat(this.redis.events()).contains("rejected redis STALE");
	}

	// rule 4: a newer holder in the middle of a pipeline
	@Test
	void rule4WhenNewerHolderStartsInTheMiddleThenOnlyWhatWasBeforeIsDone() throws Exception {
		OperationContext newer = FencedRedis.operation(next());
		OperationContext older = FencedRedis
			.operation(FencedRedis.of(this.key, newer.getHeld().get(0).getToken().value() - 1));
		stale(() -> FencedRedis.in(older, () -> pipeline((connection) -> {
			increment(connection, 100);
			await().until(() -> "100".equals(stored()));
			FencedRedis.elsewhere(() -> FencedRedis.in(newer, () -> this.redis.template().opsForValue().get(this.key)));
			increment(connection, 150);
		})));
		assertThat(stored()).isEqualTo("100");
	}

	// case 69, rule 3: the first script has claimed, the second one must find that
	@Test
	void rule3WhenGuardIsDeletedInTheMiddleThenTheRestChangesNothing() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		assertThat(stale(() -> FencedRedis.in(context, () -> pipeline((connection) -> {
			increment(connection, 100);
			await().until(() -> "100".equals(stored()));
			this.redis.plain().delete(this.redis.guard(held));
			increment(connection, 150);
		}))).getReason()).isEqualTo(RejectionReason.MISSING);
		assertThat(stored()).isEqualTo("100");
		assertThat(this.redis.plain().hasKey(this.redis.guard(held))).isFalse();
		assertThat(context.getRefusal()).isInstanceOf(StaleTokenException.class);
	}

	// rule 3: the second script is sent before the first one is answered, and claims
	// nothing
	@Test
	void rule3WhenPipelineItselfDeletesTheGuardThenTheNextScriptDoesNotRaiseItAgain() throws Exception {
		Held held = next();
		stale(() -> FencedRedis.in(FencedRedis.operation(held), () -> pipeline((connection) -> {
			increment(connection, 99);
			connection.keyCommands().del(bytes(this.redis.guard(held)));
			increment(connection, 10);
		})));
		assertThat(stored()).isEqualTo("99");
		assertThat(this.redis.plain().hasKey(this.redis.guard(held))).isFalse();
	}

	@Test
	void rule3WhenPipelineHasClaimedThenGuardIsNeverRaisedAgain() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> pipeline((connection) -> increment(connection, 1)));
		this.redis.plain().delete(this.redis.guard(held));
		assertThat(stale(() -> FencedRedis.in(context, () -> pipeline((connection) -> increment(connection, 1))))
			.getReason()).isEqualTo(RejectionReason.MISSING);
		assertThat(stored()).isEqualTo("1");
	}

	// rule 9: what waits is not sent any more
	@Test
	void rule9WhenLeaseIsLostWhileCommandsWaitThenTheyAreNotSent() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		assertThatExceptionOfType(LeaseLostException.class)
			.isThrownBy(() -> FencedRedis.in(context, () -> pipeline((connection) -> {
				increment(connection, 50);
				held.lose();
			})));
		assertThat(stored()).isNull();
	}

	// case 51
	@Test
	void case51WhenScriptsAreForgottenAtAnyMomentThenAllAnswersComeInOrder() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(pipeline((connection) -> {
				for (int i = 0; i < MANY; i++) {
					if (i % 30 == 0) {
						forgetScripts();
					}
					increment(connection, 1);
				}
			})).containsExactlyElementsOf(LongStream.rangeClosed(1, MANY).boxed().toList());
			return true;
		});
	}

	@Test
	void whenTypesAreMixedThenAnswersAreThoseOfAPlainPipeline() throws Exception {
		byte[] odd = new byte[256];
		IntStream.range(0, odd.length).forEach((i) -> odd[i] = (byte) i);
		Consumer<RedisConnection> commands = (connection) -> {
			byte[] name = bytes(this.key + "mixed");
			connection.keyCommands().del(name);
			connection.stringCommands().get(name);
			connection.stringCommands().set(name, odd);
			connection.stringCommands().get(name);
			connection.stringCommands().set(name, new byte[0]);
			connection.stringCommands().get(name);
			connection.stringCommands().mGet(name, bytes("absent"), name);
			connection.stringCommands().set(name, bytes(Long.toString(Long.MAX_VALUE - 2)));
			connection.stringCommands().incr(name);
			connection.stringCommands().decrBy(name, 5);
			connection.keyCommands().del(name);
			connection.stringCommands().incrBy(name, 0.5);
			connection.keyCommands().expire(name, 100);
			connection.keyCommands().type(name);
			connection.keyCommands().exists(name);
			connection.keyCommands().del(name);
			connection.hashCommands().hMSet(name, Map.of(odd, bytes("1"), bytes("b"), odd));
			connection.hashCommands().hIncrBy(name, odd, Long.MAX_VALUE - 1);
			connection.hashCommands().hGetAll(name);
			connection.hashCommands().hGetAll(bytes("absent"));
			connection.hashCommands().hMGet(name, odd, bytes("absent"));
			connection.keyCommands().del(name);
			connection.zSetCommands().zAdd(name, 1.5, odd);
			connection.zSetCommands().zRangeWithScores(name, 0, -1);
			connection.zSetCommands().zScore(name, bytes("absent"));
			connection.keyCommands().del(name);
			connection.listCommands().lPop(name);
			connection.listCommands().rPush(name, odd, new byte[0]);
			connection.listCommands().lRange(name, 0, -1);
			connection.scriptingCommands()
				.eval(bytes("return {1, false, ARGV[1], {KEYS[1]}}"), ReturnType.MULTI, 1, name, odd);
			connection.keyCommands().ttl(name);
			connection.keyCommands().del(name);
		};
		List<Object> plain = pipeline(this.redis.plainFactory(), commands);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(ParityTests.describe(pipeline(commands))).isEqualTo(ParityTests.describe(plain));
			return true;
		});
	}

	@Test
	void whenCommandFailsInTheMiddleThenOthersAreDoneAndErrorsAreThoseOfAPlainPipeline() throws Exception {
		String list = this.key + "list";
		this.redis.plain().opsForList().rightPush(list, "x");
		Consumer<RedisConnection> commands = (connection) -> {
			connection.stringCommands().set(bytes(this.key), bytes("1"));
			increment(connection, 2);
			connection.stringCommands().incr(bytes(list));
			connection.execute("INCR");
			increment(connection, 1);
		};
		RedisPipelineException plain = catchThrowableOfType(RedisPipelineException.class,
				() -> pipeline(this.redis.plainFactory(), commands));
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			RedisPipelineException fenced = catchThrowableOfType(RedisPipelineException.class,
					() -> pipeline(commands));
			assertThat(fenced).hasMessage(plain.getMessage());
			assertThat(fenced.getPipelineResult()).map(String::valueOf)
				.containsExactlyElementsOf(plain.getPipelineResult().stream().map(String::valueOf).toList());
			return true;
		});
		assertThat(stored()).isEqualTo("4");
	}

	@Test
	void whenValuesAreLargeThenTheyArriveWhole() throws Exception {
		byte[] large = new byte[1 << 20];
		Arrays.fill(large, (byte) '\r');
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			List<Object> answers = pipeline((connection) -> {
				for (int i = 0; i < 4; i++) {
					increment(connection, 1);
					connection.stringCommands().set(bytes(this.key + i), large);
					connection.stringCommands().get(bytes(this.key + i));
				}
			});
			assertThat(answers).hasSize(12);
			IntStream.range(0, 4).forEach((i) -> assertThat(answers.get(3 * i + 2)).isEqualTo(large));
			return true;
		});
	}

	@Test
	void whenCommandHasManyArgumentsThenItsPlaceIsKept() throws Exception {
		byte[][] many = IntStream.range(0, 10_000).mapToObj((i) -> bytes(Integer.toString(i))).toArray(byte[][]::new);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(pipeline((connection) -> {
				connection.listCommands().rPush(bytes(this.key), bytes("first"));
				connection.listCommands().rPush(bytes(this.key), many);
				connection.listCommands().rPush(bytes(this.key), bytes("last"));
			})).containsExactly(1L, 10_001L, 10_002L);
			return true;
		});
	}

	// a future of the driver's own must not wait for the end of the pipeline
	@Test
	void whenCallerWaitsForTheDriversFutureThenItIsAnsweredBeforeThePipelineEnds() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(pipeline((connection) -> {
				increment(connection, 3);
				assertThat(answer(connection)).isEqualTo(bytes("3"));
				increment(connection, 1);
				assertThat(answer(connection)).isEqualTo(bytes("4"));
			})).containsExactly(1L, 2L, 3L, 4L);
			return true;
		});
	}

	@SuppressWarnings("unchecked")
	private byte[] answer(RedisConnection connection) {
		RedisAsyncCommands<byte[], byte[]> commands = (RedisAsyncCommands<byte[], byte[]>) connection
			.getNativeConnection();
		try {
			return commands.get(bytes(this.key)).get(10, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	@SuppressWarnings("unchecked")
	void whenCallerHadTheDriversCommandsBeforeThenItsFutureIsAnsweredBeforeThePipelineEnds() throws Exception {
		this.redis.factory().setShareNativeConnection(false);
		this.redis.factory().resetConnection();
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			try (RedisConnection connection = this.redis.factory().getConnection()) {
				RedisAsyncCommands<byte[], byte[]> commands = (RedisAsyncCommands<byte[], byte[]>) connection
					.getNativeConnection();
				connection.openPipeline();
				increment(connection, 1);
				assertThat(commands.get(bytes(this.key)).get(10, TimeUnit.SECONDS)).isEqualTo(bytes("1"));
				assertThat(connection.closePipeline()).containsExactly(1L);
			}
			return true;
		});
	}

	@Test
	void whenFlushedInAnotherWayThenAllAnswersComeInOrder() throws Exception {
		for (PipeliningFlushPolicy policy : List.of(PipeliningFlushPolicy.flushOnClose(),
				PipeliningFlushPolicy.buffered(7))) {
			LettuceConnectionFactory factory = FencedRedis.newFactory(TestServers.redisUrl(), ProtocolVersion.RESP3);
			factory.setPipeliningFlushPolicy(policy);
			LettuceConnectionFactory fenced = FencedRedis.start(this.redis.fence(factory, UnfencedWrites.ALLOW));
			String counter = this.redis.key(policy.toString());
			FencedRedis.in(FencedRedis.operation(next()), () -> {
				assertThat(pipeline(fenced, (connection) -> {
					for (int i = 0; i < MANY; i++) {
						connection.stringCommands().incr(bytes(counter));
					}
				})).containsExactlyElementsOf(LongStream.rangeClosed(1, MANY).boxed().toList());
				return true;
			});
			new StringRedisTemplate(fenced).delete(counter);
			fenced.destroy();
		}
	}

	@Test
	void whenPipelineBeginsWithReadsThenTheyGoPlainlyOnceTheGuardHasAnswered() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			this.redis.template().opsForValue().set(this.key, "1");
			String scripts = scriptsRun();
			assertThat(pipeline((connection) -> {
				connection.stringCommands().get(bytes(this.key));
				connection.keyCommands().exists(bytes(this.key));
			})).containsExactly(bytes("1"), true);
			assertThat(scriptsRun()).isEqualTo(scripts);
			assertThat(pipeline((connection) -> {
				connection.stringCommands().get(bytes(this.key));
				increment(connection, 1);
				connection.stringCommands().get(bytes(this.key));
			})).containsExactly(bytes("1"), 2L, bytes("2"));
			assertThat(scriptsRun()).isNotEqualTo(scripts);
			return true;
		});
	}

	private String scriptsRun() {
		return this.redis.plain()
			.execute((RedisCallback<String>) (connection) -> String
				.valueOf(connection.serverCommands().info("commandstats").getProperty("cmdstat_eval")));
	}

	@Test
	void whenPipelineHasATransactionThenOrderIsKept() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			List<Object> answers = pipeline((connection) -> {
				increment(connection, 2);
				connection.multi();
				increment(connection, 2);
				connection.exec();
				increment(connection, 1);
			});
			assertThat(answers).containsExactly(1L, 2L, List.of(3L, 4L), 5L);
			return true;
		});
	}

	@Test
	void whenConnectionIsClosedInsteadOfThePipelineThenCommandsAreDone() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			try (RedisConnection connection = this.redis.factory().getConnection()) {
				connection.openPipeline();
				increment(connection, 3);
			}
			await().until(() -> "3".equals(stored()));
			return true;
		});
	}

}
