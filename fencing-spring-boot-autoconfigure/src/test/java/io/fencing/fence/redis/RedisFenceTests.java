package io.fencing.fence.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import io.lettuce.core.protocol.ProtocolVersion;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rules of DESIGN.md §2 at a Redis server.
 */
class RedisFenceTests {

	private final FencedRedis redis = new FencedRedis();

	private final String key = this.redis.key("a");

	@AfterEach
	void close() {
		this.redis.close();
	}

	private void set(String value) {
		this.redis.template().opsForValue().set(this.key, value);
	}

	private String get() {
		return this.redis.template().opsForValue().get(this.key);
	}

	private String stored() {
		return this.redis.plain().opsForValue().get(this.key);
	}

	private Held next() {
		return FencedRedis.next(this.key);
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	@Test
	void whenFactoryIsFencedThenItIsALettuceConnectionFactory() {
		assertThat(this.redis.factory()).isInstanceOf(LettuceConnectionFactory.class);
		assertThat(this.redis.factory().getDatabase()).isZero();
		assertThat(this.redis.factory().isRunning()).isTrue();
	}

	@Test
	void whenOutsideOfOperationThenNoGuardIsMade() {
		set("1");
		assertThat(stored()).isEqualTo("1");
		assertThat(this.redis.events()).isEmpty();
	}

	// rule 1: the first access claims, also when it is a read
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
		OperationContext newer = FencedRedis.operation(next());
		FencedRedis.in(older, this::get);
		FencedRedis.in(newer, () -> {
			set("newer");
			return true;
		});
		StaleTokenException refusal = stale(() -> FencedRedis.in(older, () -> {
			set("older");
			return true;
		}));
		assertThat(refusal.getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(stored()).isEqualTo("newer");
		assertThat(this.redis.events()).contains("rejected redis STALE");
	}

	@Test
	void whenStaleThenCallerGetsTheExceptionUnwrapped() throws Exception {
		Held older = next();
		FencedRedis.in(FencedRedis.operation(next()), this::get);
		try (OperationContext.Scope scope = FencedRedis.operation(older).open()) {
			StaleTokenException refusal = stale(() -> this.redis.template().opsForValue().increment(this.key));
			assertThat(refusal.getAcceptedToken()).isGreaterThan(older.token().value());
			assertThat(stale(this::get)).isSameAs(refusal);
		}
		assertThat(stored()).isNull();
	}

	// rule 2: (token, owner)
	@Test
	void rule2WhenEqualTokenOfAnotherOwnerThenStale() throws Exception {
		Held one = next();
		Held other = FencedRedis.of(this.key, one.token().value());
		FencedRedis.in(FencedRedis.operation(one), this::get);
		assertThat(stale(() -> FencedRedis.in(FencedRedis.operation(other), this::get)).getReason())
			.isEqualTo(RejectionReason.STALE);
	}

	// case 69, rule 3: only the guard is lost; another worker works in between
	@Test
	void case69WhenGuardIsDeletedThenStaleAndNeverRaisedAgain() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, this::get);
		this.redis.plain().delete(this.redis.guard(held));
		assertThat(stale(() -> FencedRedis.in(context, () -> {
			set("again");
			return true;
		})).getReason()).isEqualTo(RejectionReason.MISSING);
		assertThat(stored()).isNull();
		assertThat(this.redis.plain().hasKey(this.redis.guard(held))).isFalse();
	}

	@Test
	void rule3WhenOneGuardOfSeveralIsDeletedThenStaleAndNeverRaisedAgain() throws Exception {
		Held held = next();
		Held other = FencedRedis.next(this.key + ":other");
		OperationContext context = FencedRedis.operation(held, other);
		FencedRedis.in(context, this::get);
		this.redis.plain().delete(this.redis.guard(other));
		assertThat(stale(() -> FencedRedis.in(context, () -> {
			set("again");
			return true;
		})).getReason()).isEqualTo(RejectionReason.MISSING);
		assertThat(stored()).isNull();
		assertThat(this.redis.plain().hasKey(this.redis.guard(other))).isFalse();
	}

	@Test
	void whenTokenIsOlderThanRetentionThenExpired() {
		Held old = FencedRedis.of(this.key, (System.currentTimeMillis() - 8 * 86_400_000L) * 1000);
		assertThat(stale(() -> FencedRedis.in(FencedRedis.operation(old), this::get)).getReason())
			.isEqualTo(RejectionReason.EXPIRED);
	}

	// rule 9: lost leases stop commands unsent
	@Test
	void rule9WhenLeaseIsLostThenCommandIsNotSent() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, this::get);
		held.lose();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> FencedRedis.in(context, () -> {
			set("late");
			return true;
		}));
		assertThat(stored()).isNull();
		assertThat(this.redis.events()).contains("rejected redis LOST");
	}

	// rule 10: all resources on the stack
	@Test
	void rule10WhenOuterResourceIsStaleThenNestedWriteIsRefused() throws Exception {
		Held outer = next();
		Held inner = FencedRedis.next(this.redis.key("inner"));
		OperationContext context = FencedRedis.operation(outer);
		FencedRedis.in(context, this::get);
		FencedRedis.in(FencedRedis.operation(next()), this::get);
		StaleTokenException refusal = stale(
				() -> FencedRedis.in(context, () -> FencedRedis.in(FencedRedis.operation(inner), () -> {
					set("nested");
					return true;
				})));
		assertThat(refusal.concerns(outer.resource())).isTrue();
		assertThat(context.getRefusal()).isSameAs(refusal);
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
			set("2");
			assertThat(get()).isEqualTo("2");
			return true;
		});
	}

	// case 51: pipelines
	@Test
	void case51WhenScriptsAreForgottenInPipelineThenAllResultsAreThere() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			List<Object> results = this.redis.template().executePipelined((RedisCallback<?>) (connection) -> {
				for (int i = 0; i < 50; i++) {
					connection.stringCommands().incr(this.key.getBytes());
					if (i % 10 == 0) {
						this.redis.plain().execute((RedisCallback<?>) (other) -> {
							other.scriptingCommands().scriptFlush();
							return null;
						});
					}
				}
				return null;
			});
			assertThat(results)
				.containsExactlyElementsOf(IntStream.rangeClosed(1, 50).mapToObj(Long::valueOf).toList());
			return true;
		});
	}

	// case 74: all or nothing
	@Test
	void case74WhenScriptsAreForgottenBeforeExecThenAllOfTheTransactionRuns() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			set("0");
			List<Object> results = this.redis.template().execute(new InTransaction(() -> {
				this.redis.plain().execute((RedisCallback<?>) (other) -> {
					other.scriptingCommands().scriptFlush();
					return null;
				});
			}, this.key));
			assertThat(results).containsExactly(1L, 2L, true);
			return true;
		});
		assertThat(stored()).isEqualTo("2");
	}

	// case 74: the typed error
	@Test
	void case74WhenTakenOverBeforeExecThenNothingRunsAndCallerGetsTheRefusal() throws Exception {
		OperationContext context = FencedRedis.operation(next());
		OperationContext newer = FencedRedis.operation(next());
		set("0");
		try (OperationContext.Scope scope = context.open()) {
			stale(() -> this.redis.template()
				.execute(new InTransaction(() -> FencedRedis.elsewhere(() -> FencedRedis.in(newer, this::get)),
						this.key)));
		}
		assertThat(stored()).isEqualTo("0");
		assertThat(this.redis.plain().hasKey(this.key + ":2")).isFalse();
	}

	@Test
	void rule3WhenTransactionHasReadThenGuardIsNeverRaisedAgain() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> this.redis.template().execute(new InTransaction(() -> {
		}, this.key)));
		this.redis.plain().delete(this.redis.guard(held));
		assertThat(stale(() -> FencedRedis.in(context, () -> {
			set("3");
			return true;
		})).getReason()).isEqualTo(RejectionReason.MISSING);
	}

	@Test
	void whenTransactionIsDiscardedThenItAdmitsNothing() throws Exception {
		Held held = next();
		FencedRedis.in(FencedRedis.operation(held), () -> {
			this.redis.template().execute(new Discarded(this.key));
			assertThat(this.redis.plain().hasKey(this.redis.guard(held))).isFalse();
			set("1");
			return true;
		});
		assertThat(stored()).isEqualTo("1");
	}

	@Test
	void whenStaleInPipelineThenCallerGetsTheRefusal() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(FencedRedis.operation(next()), this::get);
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> this.redis.template().executePipelined((RedisCallback<?>) (connection) -> {
				connection.stringCommands().incr(this.key.getBytes());
				return null;
			}));
		}
		assertThat(stored()).isNull();
	}

	@Test
	void whenPipelineWasOpenedOutsideThenCommandIsRefused() throws Exception {
		OperationContext context = FencedRedis.operation(next());
		this.redis.template().executePipelined((RedisCallback<?>) (connection) -> {
			try (OperationContext.Scope scope = context.open()) {
				assertThatExceptionOfType(UnfencedWriteException.class)
					.isThrownBy(() -> connection.stringCommands().incr(this.key.getBytes()));
			}
			return null;
		});
		assertThat(stored()).isNull();
	}

	@Test
	void whenServerRefusesThenCallerGetsItsErrorUnchanged() throws Exception {
		this.redis.plain().opsForList().rightPush(this.key, "a");
		Throwable plain = Assertions.catchThrowable(() -> this.redis.plain().opsForValue().increment(this.key));
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> this.redis.template().opsForValue().increment(this.key))
				.withMessage(plain.getMessage())
				.havingCause()
				.withMessage(plain.getCause().getMessage());
			return true;
		});
	}

	@Test
	void whenIntegersAreLargeThenNoDigitIsLost() throws Exception {
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			set(Long.toString(Long.MAX_VALUE - 2));
			assertThat(this.redis.template().opsForValue().increment(this.key)).isEqualTo(Long.MAX_VALUE - 1);
			assertThat(this.redis.template().opsForValue().increment(this.key, 1)).isEqualTo(Long.MAX_VALUE);
			assertThat(this.redis.template().opsForValue().decrement(this.key, 3)).isEqualTo(Long.MAX_VALUE - 3);
			assertThat(this.redis.template().opsForHash().increment(this.key + "h", "f", Long.MIN_VALUE))
				.isEqualTo(Long.MIN_VALUE);
			assertThat(this.redis.template()
				.executePipelined(
						(RedisCallback<?>) (connection) -> connection.stringCommands().incr(this.key.getBytes())))
				.containsExactly(Long.MAX_VALUE - 2);
			return true;
		});
	}

	@Test
	void whenCommandHasManyArgumentsThenAllArrive() throws Exception {
		Map<String, String> many = new HashMap<>();
		IntStream.range(0, 100_000).forEach((i) -> many.put("f" + i, "v" + i));
		Map<String, String> manyKeys = new HashMap<>();
		many.forEach((field, value) -> manyKeys.put(this.key + field, value));
		String[] values = many.values().toArray(String[]::new);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			this.redis.template().opsForHash().putAll(this.key + "h", many);
			assertThat(this.redis.template().opsForHash().entries(this.key + "h")).isEqualTo(many);
			assertThat(this.redis.template().opsForList().rightPushAll(this.key + "l", values)).isEqualTo(100_000L);
			assertThat(this.redis.template().opsForList().range(this.key + "l", 0, -1)).containsExactly(values);
			assertThat(this.redis.template().opsForSet().add(this.key + "s", values)).isEqualTo(100_000L);
			this.redis.template().opsForValue().multiSet(manyKeys);
			assertThat(this.redis.template().opsForValue().multiGet(manyKeys.keySet()))
				.containsExactlyElementsOf(manyKeys.values());
			assertThat(this.redis.template().opsForValue().multiSetIfAbsent(manyKeys)).isFalse();
			assertThat(this.redis.template().delete(manyKeys.keySet())).isEqualTo(100_000L);
			assertThat(this.redis.template().opsForValue().multiSetIfAbsent(manyKeys)).isTrue();
			return true;
		});
		assertThat(this.redis.plain().delete(manyKeys.keySet())).isEqualTo(100_000L);
	}

	@Test
	void whenUserScriptRunsThenItSeesItsOwnKeysAndArguments() throws Exception {
		RedisScript<List<?>> script = RedisScript.of(
				"redis.call('SET', KEYS[1], ARGV[1])\nreturn {#KEYS, #ARGV, KEYS[1], ARGV[2], redis.call('GET', KEYS[1])}",
				generic());
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			for (int i = 0; i < 3; i++) {
				assertThat(this.redis.template().execute(script, List.of(this.key), "v" + i, "w"))
					.isEqualTo(List.of(1L, 2L, this.key, "w", "v" + i));
			}
			return true;
		});
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> this.redis.template().execute(script, List.of(this.key), "stale", "w"));
		}
		assertThat(stored()).isEqualTo("v2");
	}

	@SuppressWarnings("unchecked")
	private static <T> Class<T> generic() {
		return (Class<T>) List.class;
	}

	@Test
	void whenUserScriptFailsThenLineNumbersAreThoseOfItsSource() throws Exception {
		DefaultRedisScript<Long> script = new DefaultRedisScript<>("local a = 1\nlocal b = nil\nreturn a + b",
				Long.class);
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> this.redis.template().execute(script, List.of(this.key)))
				.havingRootCause()
				.withMessageContaining("user_script:3:");
			return true;
		});
	}

	@Test
	void whenCommandBlocksThenItIsRefusedWithTheAlternative() {
		OperationContext context = FencedRedis.operation(next());
		try (OperationContext.Scope scope = context.open()) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> this.redis.template().opsForList().leftPop(this.key, Duration.ofSeconds(1)))
				.withMessageContaining("'BLPOP'")
				.withMessageContaining("poll");
		}
	}

	@Test
	void whenKeysAreOddThenFencedIsPlain() throws Exception {
		for (String odd : List.of("a}b", "{}x", "x{}y{z}", "{", "}", " ", "\u0000\uffff", "ä")) {
			String name = this.redis.key(odd);
			FencedRedis.in(FencedRedis.operation(next()), () -> {
				this.redis.template().opsForValue().set(name, "");
				return true;
			});
			assertThat(this.redis.plain().opsForValue().get(name)).isEmpty();
		}
	}

	@Test
	void whenDatabaseIsFlushedThenStaleAndNeverRaisedAgain() throws Exception {
		try (FencedRedis other = new FencedRedis()) {
			LettuceConnectionFactory factory = FencedRedis.newFactory(TestServers.redisUrl(), ProtocolVersion.RESP2);
			factory.setDatabase(9);
			LettuceConnectionFactory fenced = FencedRedis.start(other.fence(factory, UnfencedWrites.ALLOW));
			StringRedisTemplate template = new StringRedisTemplate(fenced);
			OperationContext context = FencedRedis.operation(next());
			FencedRedis.in(context, () -> {
				template.opsForValue().set("x", "1");
				return true;
			});
			template.execute((RedisCallback<?>) (connection) -> {
				connection.serverCommands().flushDb();
				return null;
			});
			assertThat(stale(() -> FencedRedis.in(context, () -> {
				template.opsForValue().set("x", "2");
				return true;
			})).getReason()).isEqualTo(RejectionReason.MISSING);
			assertThat(template.hasKey("x")).isFalse();
			fenced.destroy();
		}
	}

}
