package io.fencing.fence.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import io.lettuce.core.cluster.SlotHash;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
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

	private static final int MAX_PORT = 55_000;

	private static RedisShardedCluster cluster;

	private static FencedRedis redis;

	private static LettuceConnectionFactory plainFactory;

	private static LettuceConnectionFactory factory;

	private static StringRedisTemplate plain;

	private static StringRedisTemplate template;

	@BeforeAll
	static void startCluster() throws IOException {
		cluster = RedisShardedCluster.newRedisCluster()
			.withServerBuilder(RedisServer.newRedisServer().bind("127.0.0.1").setting("save \"\""))
			.serverPorts(Stream.generate(TestServers::freePort)
				.filter((port) -> port < MAX_PORT)
				.distinct()
				.limit(3)
				.toList())
			.initializationTimeout(Duration.ofSeconds(30))
			.shard("one", 0)
			.shard("two", 0)
			.shard("three", 0)
			.build();
		cluster.start();
		redis = new FencedRedis();
		plainFactory = FencedRedis.start(newFactory());
		factory = FencedRedis.start(redis.fence(newFactory(), UnfencedWrites.ALLOW));
		plain = new StringRedisTemplate(plainFactory);
		template = new StringRedisTemplate(factory);
	}

	private static LettuceConnectionFactory newFactory() {
		return new LettuceConnectionFactory(new RedisClusterConfiguration(
				cluster.serverPorts().stream().map((port) -> "127.0.0.1:" + port).toList()));
	}

	@AfterAll
	static void stopCluster() throws IOException {
		factory.destroy();
		plainFactory.destroy();
		redis.close();
		cluster.stop();
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	private static String guard(Held held, String key) {
		return new String(new GuardKeys("fencing").guard(held.resource(), SlotHash.getSlot(key)));
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
				assertThat(plain.hasKey(guard(held, odd))).isTrue();
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
		plain.delete(guard(held, "deleted"));
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
		ReactiveStringRedisTemplate reactive = new ReactiveStringRedisTemplate(factory);
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
		ReactiveStringRedisTemplate reactive = new ReactiveStringRedisTemplate(factory);
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

}
