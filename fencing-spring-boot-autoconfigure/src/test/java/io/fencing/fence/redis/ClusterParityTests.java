package io.fencing.fence.redis;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.ParityTests.Subject;
import io.fencing.testing.RedisClusterServers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.geo.Point;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public operation of Spring Data Redis's interfaces runs on a cluster, plain and
 * fenced one after the other on the same data: result, exception and stored bytes are the
 * same, or it is refused, or it does not apply.
 */
class ClusterParityTests {

	/** What all keys of one node have, as name and bytes. */
	private static final String SNAPSHOT = """
			local found = {}
			for _, key in ipairs(redis.call('KEYS', '*')) do
				found[#found + 1] = key
				found[#found + 1] = redis.call('DUMP', key)
			end
			return found""";

	/**
	 * The same to be compared: a set has no order, and a stream keeps the times at which
	 * it was read.
	 */
	private static final String DIGEST = """
			local found = {}
			for _, key in ipairs(redis.call('KEYS', '*')) do
				if string.sub(key, 1, 10) ~= 'fencing:1:' then
					local type = redis.call('TYPE', key).ok
					local data
					if type == 'set' then
						data = redis.call('SMEMBERS', key)
						table.sort(data)
						data = cjson.encode(data)
					elseif type == 'stream' then
						data = cjson.encode(redis.call('XRANGE', key, '-', '+'))
					else
						data = redis.sha1hex(redis.call('DUMP', key))
					end
					local remaining = math.floor((redis.call('PTTL', key) + 5000) / 10000)
					found[#found + 1] = key .. ' ' .. remaining .. ' ' .. data
				end
			end
			return found""";

	private static final String RESTORE = """
			redis.call('FLUSHALL')
			for i = 1, #ARGV, 2 do
				redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1])
			end""";

	private final RedisClusterServers servers = RedisClusterServers.shared();

	private final RedisClient client = RedisClient.create();

	private final List<RedisCommands<byte[], byte[]>> nodes = this.servers.getMasterPorts()
		.stream()
		.map((port) -> this.client.connect(ByteArrayCodec.INSTANCE, RedisURI.create("127.0.0.1", port)).sync())
		.toList();

	@AfterEach
	void disconnect() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

	@Test
	void whenOperationIsFencedInAClusterThenItIsEqualOrRefused() throws Exception {
		try (FencedRedis redis = Topology.CLUSTER.connect()) {
			seed(redis.plain());
			List<byte[][]> seed = this.nodes.stream().map(ClusterParityTests::snapshot).toList();
			List<String> outcomes = new ArrayList<>();
			int reflected = 0;
			for (Subject subject : ParityTests.SUBJECTS) {
				List<Method> methods = subject.methods();
				reflected += methods.size();
				for (Method method : methods) {
					outcomes.add(outcome(subject, method, redis, seed));
				}
			}
			assertThat(outcomes).hasSize(reflected).hasSizeGreaterThan(600);
			assertThat(outcomes.stream().filter((outcome) -> outcome.startsWith("different"))).isEmpty();
			checkDocumentation(outcomes);
		}
	}

	// one command for each key, since the keys are on several nodes
	private static void seed(StringRedisTemplate template) {
		template.execute((RedisCallback<?>) (connection) -> {
			connection.serverCommands().flushDb();
			return null;
		});
		template.opsForValue().multiSet(Map.of("str", "10", "str2", "abc"));
		for (String suffix : List.of("", "2")) {
			template.opsForHash().putAll("hash" + suffix, new TreeMap<>(Map.of("f1", "1", "f2", "b")));
			template.opsForList().rightPushAll("list" + suffix, "a", "b", "c");
			template.opsForSet().add("set" + suffix, "m1", "m2", "x" + suffix);
			template.opsForZSet().add("zset" + suffix, "m1", 1);
			template.opsForZSet().add("zset" + suffix, "m2", 2.5);
			template.opsForGeo().add("geo" + suffix, new Point(13.361389, 52.115556), "m1");
			template.opsForGeo().add("geo" + suffix, new Point(13.087269, 52.502669), "m2");
			template.opsForHyperLogLog().add("hll" + suffix, "a", "b", suffix);
		}
		template.opsForStream()
			.add(StreamRecords.mapBacked(Map.of("f1", "x")).withStreamKey("stream").withId(RecordId.of("1-1")));
		template.opsForStream()
			.add(StreamRecords.mapBacked(Map.of("f1", "y")).withStreamKey("stream").withId(RecordId.of("2-1")));
		template.opsForStream().createGroup("stream", ReadOffset.from("0"), "g");
	}

	private static void checkDocumentation(List<String> outcomes) throws IOException {
		String counts = outcomes.stream()
			.collect(Collectors.groupingBy((outcome) -> outcome.split(": ", 2)[0], TreeMap::new, Collectors.counting()))
			.entrySet()
			.stream()
			.map((count) -> count.getValue() + " " + count.getKey())
			.collect(Collectors.joining(", "));
		if (OtherSpringBoot.isUsed()) {
			// it has other operations
			return;
		}
		assertThat(Files.readString(Path.of("..", "docs", "redis.md")))
			.contains("On a cluster, " + outcomes.size() + " operations: " + counts + ".");
	}

	private String outcome(Subject subject, Method method, FencedRedis redis, List<byte[][]> seed) {
		String reason = ParityTests.NOT_APPLICABLE.get(method.getName());
		boolean adds = method.getName().equals("add") || method.getName().equals("xAdd");
		if (reason != null || (adds && subject.key().equals("stream")
				&& Arrays.asList(method.getParameterTypes()).contains(Map.class))) {
			return "not applicable";
		}
		restore(seed);
		OperationContext context = FencedRedis.operation(FencedRedis.next("parity"));
		String fenced;
		try (OperationContext.Scope scope = context.open()) {
			fenced = ParityTests.call(subject, method, redis.factory());
		}
		if (context.getRefusal() instanceof UnfencedWriteException refusal) {
			assertThat(fenced).contains(UnfencedWriteException.class.getName());
			return "refused: " + refusal.getMessage().substring(refusal.getMessage().indexOf("'; ") + 3);
		}
		String fencedData = digest();
		restore(seed);
		String plain = ParityTests.call(subject, method, redis.plainFactory());
		if (!plain.equals(fenced)) {
			return "different: " + method + ": " + plain + " <> " + fenced;
		}
		String plainData = digest();
		return plainData.equals(fencedData) ? "equal" : "different: " + method + ": " + plainData + " <> " + fencedData;
	}

	private static byte[][] snapshot(RedisCommands<byte[], byte[]> node) {
		List<byte[]> found = node.eval(SNAPSHOT, ScriptOutputType.MULTI);
		return found.toArray(byte[][]::new);
	}

	private void restore(List<byte[][]> seed) {
		for (int i = 0; i < seed.size(); i++) {
			this.nodes.get(i).eval(RESTORE, ScriptOutputType.STATUS, new byte[0][], seed.get(i));
		}
	}

	private String digest() {
		return this.nodes.stream()
			.flatMap((node) -> node.<List<byte[]>>eval(DIGEST, ScriptOutputType.MULTI).stream())
			.map((bytes) -> new String(bytes, StandardCharsets.ISO_8859_1))
			.sorted()
			.collect(Collectors.joining("\n"));
	}

}
