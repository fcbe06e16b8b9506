package io.fencing.fence.redis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.lettuce.core.cluster.SlotHash;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fence on three masters.
 */
class ClusterFenceTests {

	private static FencedRedis cluster;

	private static StringRedisTemplate plain;

	private static StringRedisTemplate template;

	@BeforeAll
	static void connect() {
		cluster = Topology.CLUSTER.connect();
		plain = cluster.plain();
		template = cluster.template();
	}

	@AfterAll
	static void disconnect() {
		cluster.close();
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	// case 70
	@Test
	void case70WhenKeysAreOddThenFencedIsPlain() throws Exception {
		Held held = FencedRedis.next("odd");
		FencedRedis.in(FencedRedis.operation(held), () -> {
			for (String odd : List.of("a}b", "{}x", "x{}y{z}", "{", "}", "{a}{b}", " ", "\u0000\uffff", "ä")) {
				template.opsForValue().set(odd, "v" + odd);
				assertThat(template.opsForValue().get(odd)).isEqualTo("v" + odd);
				assertThat(plain.opsForValue().get(odd)).isEqualTo("v" + odd);
				assertThat(plain.hasKey(Topology.CLUSTER.guard(held, odd))).isTrue();
			}
			return true;
		});
	}

	// case 70: each slot has a tag that falls into it
	@Property(tries = 500)
	void case70TagOfSlotFallsIntoSlot(@ForAll @IntRange(max = 16_383) int slot) {
		byte[] guard = new GuardKeys("fencing").guard(FencedRedis.next("a").resource(), slot);
		assertThat(SlotHash.getSlot(guard)).isEqualTo(slot);
	}

	@Test
	void whenNewerHolderHasStartedInASlotThenStaleWriteThereChangesNothing() throws Exception {
		OperationContext older = FencedRedis.operation(FencedRedis.next("slot"));
		OperationContext newer = FencedRedis.operation(FencedRedis.next("slot"));
		FencedRedis.in(older, () -> template.opsForValue().get("slot"));
		FencedRedis.in(newer, () -> {
			template.opsForValue().set("slot", "newer");
			return true;
		});
		assertThat(stale(() -> FencedRedis.in(older, () -> {
			template.opsForValue().set("slot", "older");
			return true;
		})).getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(plain.opsForValue().get("slot")).isEqualTo("newer");
	}

	@Test
	void case69WhenGuardIsDeletedThenStale() throws Exception {
		Held held = FencedRedis.next("deleted");
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> template.opsForValue().increment("deleted"));
		plain.delete(Topology.CLUSTER.guard(held, "deleted"));
		assertThat(stale(() -> FencedRedis.in(context, () -> template.opsForValue().increment("deleted"))).getReason())
			.isEqualTo(RejectionReason.MISSING);
		assertThat(plain.opsForValue().get("deleted")).isEqualTo("1");
	}

	// multi-key commands fan out to the nodes on other threads
	@Test
	void whenCommandFansOutThenEveryNodeChecks() throws Exception {
		Map<String, String> many = new HashMap<>();
		IntStream.range(0, 200).forEach((i) -> many.put("many" + i, "v" + i));
		OperationContext older = FencedRedis.operation(FencedRedis.next("many"));
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("many")), () -> {
			template.opsForValue().multiSet(many);
			assertThat(template.opsForValue().multiGet(many.keySet())).containsExactlyElementsOf(many.values());
			return true;
		});
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> template.delete(many.keySet()));
		}
		assertThat(plain.countExistingKeys(many.keySet())).isEqualTo(200L);
		assertThat(
				FencedRedis.in(FencedRedis.operation(FencedRedis.next("many")), () -> template.delete(many.keySet())))
			.isEqualTo(200L);
	}

	@Test
	void whenSeveralKeysAreInOneSlotThenTheyAreUsedTogether() throws Exception {
		String a = "{together}a";
		String b = "{together}b";
		String c = "{together}c";
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("together")), () -> {
			template.opsForValue().multiSet(Map.of(a, "1", b, "2"));
			assertThat(template.opsForValue().multiGet(List.of(a, b))).containsExactly("1", "2");
			assertThat(template.execute((RedisCallback<Long>) (connection) -> connection.stringCommands()
				.bitOp(RedisStringCommands.BitOperation.OR, c.getBytes(), a.getBytes(), b.getBytes()))).isOne();
			assertThat(template.opsForValue().get(c)).isEqualTo("3");
			assertThat(template.copy(a, c, true)).isTrue();
			template.rename(c, b);
			assertThat(template.opsForValue().get(b)).isEqualTo("1");
			assertThat(template.delete(List.of(a, b, c))).isEqualTo(2);
			template.opsForZSet().add(a, "m", 1);
			template.opsForZSet().add(b, "m", 2);
			assertThat(template.opsForZSet().unionAndStore(a, b, c)).isOne();
			assertThat(template.opsForZSet().score(c, "m")).isEqualTo(3);
			assertThat(template.opsForZSet().intersect(a, b)).containsExactly("m");
			template.delete(List.of(a, b, c));
			template.opsForSet().add(a, "x");
			template.opsForSet().add(b, "y");
			assertThat(template.opsForSet().unionAndStore(List.of(a, b), c)).isEqualTo(2);
			assertThat(template.opsForSet().move(a, "x", b)).isTrue();
			template.delete(List.of(a, b, c));
			template.opsForList().rightPush(a, "x");
			assertThat(template.opsForList().rightPopAndLeftPush(a, b)).isEqualTo("x");
			return template.delete(b);
		});
		assertThat(plain.countExistingKeys(List.of(a, b, c))).isZero();
	}

	@Test
	void whenPipelinedThenResultsAreThoseOfPlain() throws Exception {
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("pipeline")), () -> {
			List<Object> results = template.executePipelined((RedisCallback<?>) (connection) -> {
				IntStream.range(0, 50).forEach((i) -> connection.stringCommands().incr(("p" + i).getBytes()));
				return null;
			});
			assertThat(results).hasSize(50).containsOnly(1L);
			return true;
		});
	}

	@Test
	void whenUserScriptRunsThenItIsChecked() throws Exception {
		RedisScript<Long> script = RedisScript.of("return redis.call('INCRBY', KEYS[1], ARGV[1])", Long.class);
		OperationContext older = FencedRedis.operation(FencedRedis.next("script"));
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("script")), () -> {
			assertThat(template.execute(script, List.of("x{}y{z}s"), "2")).isEqualTo(2);
			assertThat(template.execute(script, List.of("x{}y{z}s"), "2")).isEqualTo(4);
			return true;
		});
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> template.execute(script, List.of("x{}y{z}s"), "2"));
		}
	}

	@Test
	void whenReactiveTemplateBlocksThenFencedTheSame() throws Exception {
		ReactiveStringRedisTemplate reactive = new ReactiveStringRedisTemplate(cluster.factory());
		OperationContext older = FencedRedis.operation(FencedRedis.next("reactive"));
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("reactive")),
				() -> reactive.opsForValue().set("reactive", "newer").block());
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> reactive.opsForValue().set("reactive", "older").block());
		}
		assertThat(plain.opsForValue().get("reactive")).isEqualTo("newer");
	}

	@Test
	void whenReactiveCommandsAreComposedOverSlotsThenFencedTheSame() throws Exception {
		ReactiveStringRedisTemplate reactive = new ReactiveStringRedisTemplate(cluster.factory());
		plain.opsForValue().set("composed, another slot", "1");
		OperationContext older = FencedRedis.operation(FencedRedis.next("composed"));
		FencedRedis.in(FencedRedis.operation(FencedRedis.next("composed")),
				() -> reactive.opsForValue().set("composed", "newer").block());
		try (OperationContext.Scope scope = older.open()) {
			stale(() -> reactive.opsForValue()
				.get("composed, another slot")
				.flatMap((value) -> reactive.opsForValue().set("composed", "older"))
				.block());
		}
		assertThat(plain.opsForValue().get("composed")).isEqualTo("newer");
	}

	@Test
	void whenWriteHasNoKeyThenItIsRefused() throws Exception {
		try (OperationContext.Scope scope = FencedRedis.operation(FencedRedis.next("all")).open()) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> template.execute((RedisCallback<?>) (connection) -> {
					connection.serverCommands().flushAll();
					return null;
				}));
		}
	}

	@Test
	void whenFunctionIsCalledThenItIsRefused() {
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(
					() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next("function")),
							() -> template.execute((RedisCallback<?>) (connection) -> connection.execute("FCALL",
									"add".getBytes(), "1".getBytes(), "a".getBytes()))))
			.withMessageContaining("cluster");
	}

	@Test
	void whenJedisTalksToAClusterThenItsCommandsAreRefused() throws Exception {
		JedisConnectionFactory jedis = (JedisConnectionFactory) cluster
			.fenceAny(new JedisConnectionFactory(cluster.factory().getClusterConfiguration()));
		StringRedisTemplate jedisTemplate = new StringRedisTemplate(jedis);
		jedisTemplate.opsForValue().set("jedis", "1");
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(FencedRedis.next("jedis")),
					() -> jedisTemplate.opsForValue().increment("jedis")))
			.withMessageContaining("LettuceConnectionFactory");
		assertThat(plain.opsForValue().get("jedis")).isEqualTo("1");
		jedis.destroy();
	}

}
