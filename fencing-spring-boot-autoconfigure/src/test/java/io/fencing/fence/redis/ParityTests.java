package io.fencing.fence.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionCommands;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisGeoCommands;
import org.springframework.data.redis.connection.RedisHashCommands;
import org.springframework.data.redis.connection.RedisHyperLogLogCommands;
import org.springframework.data.redis.connection.RedisKeyCommands;
import org.springframework.data.redis.connection.RedisListCommands;
import org.springframework.data.redis.connection.RedisPubSubCommands;
import org.springframework.data.redis.connection.RedisScriptingCommands;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.connection.RedisSetCommands;
import org.springframework.data.redis.connection.RedisStreamCommands;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.connection.RedisTxCommands;
import org.springframework.data.redis.connection.RedisZSetCommands;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.GeoOperations;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.HyperLogLogOperations;
import org.springframework.data.redis.core.ListOperations;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SetOperations;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ValueOperations;
import org.springframework.data.redis.core.ZSetOperations;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public operation of Spring Data Redis's command and operations interfaces, found
 * by reflection, runs plain in one database and fenced in another: result, exception and
 * stored bytes are the same, or it is refused, or it does not apply, each with its
 * reason.
 */
class ParityTests {

	static final String FAILED = "failed ";

	static final String NO_SAMPLE = "no sample argument";

	/** Methods whose results are never the same twice, or that no test survives. */
	static final Map<String, String> NOT_APPLICABLE = new TreeMap<>();

	static {
		put("answers at random",
				"randomKey sRandMember hRandField hRandFieldWithValues zRandMember zRandMemberWithScore sPop pop "
						+ "randomMember randomMembers distinctRandomMembers randomMemberWithScore "
						+ "randomMembersWithScore distinctRandomMembersWithScore randomEntry randomEntries randomKeys randomValue");
		put("answers with the time or the state of the server", "time info getClientList lastSave getConfig");
		put("counts guards as well", "dbSize");
		put("works on the server, not on data", "bgReWriteAof bgSave save setConfig resetConfigStats rewriteConfig "
				+ "killClient setClientName getClientName");
		put("would end the test's server or its connection", "shutdown replicaOf replicaOfNoOne flushAll");
		put("starts or ends something else than a command", "opsForCluster getConnectionFactory getSubscription");
	}

	private static void put(String reason, String methods) {
		Stream.of(methods.split(" ")).forEach((method) -> NOT_APPLICABLE.put(method, reason));
	}

	private static final String SEED = """
			redis.call('FLUSHDB')
			redis.call('MSET', 'str', '10', 'str2', 'abc')
			for _, suffix in ipairs({'', '2'}) do
				redis.call('HSET', 'hash' .. suffix, 'f1', '1', 'f2', 'b')
				redis.call('RPUSH', 'list' .. suffix, 'a', 'b', 'c')
				redis.call('SADD', 'set' .. suffix, 'm1', 'm2', 'x' .. suffix)
				redis.call('ZADD', 'zset' .. suffix, '1', 'm1', '2.5', 'm2')
				redis.call('GEOADD', 'geo' .. suffix, '13.361389', '52.115556', 'm1', '13.087269', '52.502669', 'm2')
				redis.call('PFADD', 'hll' .. suffix, 'a', 'b', suffix)
			end
			redis.call('XADD', 'stream', '1-1', 'f1', 'x')
			redis.call('XADD', 'stream', '2-1', 'f1', 'y')
			redis.call('XGROUP', 'CREATE', 'stream', 'g', '0')
			return 'seeded'
			""";

	static final List<Subject> SUBJECTS = List.of(
			Subject.commands(RedisStringCommands.class, "str", RedisConnection::stringCommands),
			Subject.commands(RedisHashCommands.class, "hash", RedisConnection::hashCommands),
			Subject.commands(RedisListCommands.class, "list", RedisConnection::listCommands),
			Subject.commands(RedisSetCommands.class, "set", RedisConnection::setCommands),
			Subject.commands(RedisZSetCommands.class, "zset", RedisConnection::zSetCommands),
			Subject.commands(RedisStreamCommands.class, "stream", RedisConnection::streamCommands),
			Subject.commands(RedisGeoCommands.class, "geo", RedisConnection::geoCommands),
			Subject.commands(RedisHyperLogLogCommands.class, "hll", RedisConnection::hyperLogLogCommands),
			Subject.commands(RedisKeyCommands.class, "list", RedisConnection::keyCommands),
			Subject.commands(RedisScriptingCommands.class, "str", RedisConnection::scriptingCommands),
			Subject.commands(RedisServerCommands.class, "str", RedisConnection::serverCommands),
			Subject.commands(RedisTxCommands.class, "str", (connection) -> connection),
			Subject.commands(RedisPubSubCommands.class, "str", (connection) -> connection),
			Subject.commands(RedisConnectionCommands.class, "str", (connection) -> connection),
			Subject.operations(ValueOperations.class, "str", StringRedisTemplate::opsForValue),
			Subject.operations(HashOperations.class, "hash", StringRedisTemplate::opsForHash),
			Subject.operations(ListOperations.class, "list", StringRedisTemplate::opsForList),
			Subject.operations(SetOperations.class, "set", StringRedisTemplate::opsForSet),
			Subject.operations(ZSetOperations.class, "zset", StringRedisTemplate::opsForZSet),
			Subject.operations(StreamOperations.class, "stream", StringRedisTemplate::opsForStream),
			Subject.operations(GeoOperations.class, "geo", StringRedisTemplate::opsForGeo),
			Subject.operations(HyperLogLogOperations.class, "hll", StringRedisTemplate::opsForHyperLogLog),
			Subject.operations(RedisOperations.class, "list", (template) -> template));

	@Test
	void whenOperationIsFencedThenItIsEqualOrRefusedWithItsReason() throws Exception {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		server.start();
		String url = "redis://127.0.0.1:" + port;
		try (FencedRedis redis = new FencedRedis(url, ProtocolVersion.RESP2, UnfencedWrites.ALLOW)) {
			Map<String, List<Outcome>> columns = new LinkedHashMap<>();
			for (Driver driver : Driver.values()) {
				if (driver == Driver.REDISSON && OtherSpringBoot.isUsed()) {
					continue;
				}
				List<Outcome> outcomes = outcomes(driver, redis, url);
				List<Outcome> before = columns.putIfAbsent(driver.column, outcomes);
				if (before != null) {
					assertThat(outcomes).as("%s", driver).containsExactlyElementsOf(before);
				}
			}
			checkDocumentation(table(columns));
		}
		finally {
			server.stop();
		}
	}

	private static List<Outcome> outcomes(Driver driver, FencedRedis redis, String url) throws Exception {
		RedisConnectionFactory plain = FencedRedis.startAny(driver.create(url, 3));
		RedisConnectionFactory fenced = redis.fenceAny(driver.create(url, 4));
		LettuceConnectionFactory plainData = FencedRedis.start(FencedRedis.newFactory(url, ProtocolVersion.RESP2, 3));
		LettuceConnectionFactory fencedData = FencedRedis.start(FencedRedis.newFactory(url, ProtocolVersion.RESP2, 4));
		Twins twins = new Twins(plain, fenced, plainData, fencedData);
		try {
			List<Outcome> outcomes = new ArrayList<>();
			int reflected = 0;
			for (Subject subject : SUBJECTS) {
				List<Method> methods = subject.methods();
				reflected += methods.size();
				methods.forEach((method) -> outcomes.add(outcome(subject, method, twins)));
			}
			assertThat(outcomes).as("%s", driver).hasSize(reflected).hasSizeGreaterThan(600);
			assertThat(outcomes.stream().filter((outcome) -> outcome.kind().equals("different"))).as("%s", driver)
				.isEmpty();
			assertThat(outcomes.stream().filter((outcome) -> outcome.reason().startsWith(NO_SAMPLE))).as("%s", driver)
				.isEmpty();
			return outcomes;
		}
		finally {
			((DisposableBean) plain).destroy();
			((DisposableBean) fenced).destroy();
			plainData.destroy();
			fencedData.destroy();
		}
	}

	private static Outcome outcome(Subject subject, Method method, Twins twins) {
		String reason = NOT_APPLICABLE.get(method.getName());
		boolean adds = method.getName().equals("add") || method.getName().equals("xAdd");
		if (adds && subject.key().equals("stream") && Arrays.asList(method.getParameterTypes()).contains(Map.class)) {
			reason = "the server makes the id from its time";
		}
		if (reason != null) {
			return new Outcome(subject, method, "not applicable", reason);
		}
		seed(twins.plainData());
		seed(twins.fencedData());
		OperationContext context = FencedRedis.operation(FencedRedis.next("parity"));
		String fencedAnswer;
		try (OperationContext.Scope scope = context.open()) {
			fencedAnswer = call(subject, method, twins.fenced());
		}
		catch (IllegalArgumentException ex) {
			return new Outcome(subject, method, "not applicable", NO_SAMPLE + ": " + ex.getMessage());
		}
		if (context.getRefusal() instanceof UnfencedWriteException refusal) {
			assertThat(fencedAnswer).contains(UnfencedWriteException.class.getName());
			String message = refusal.getMessage();
			return new Outcome(subject, method, "refused", message.substring(message.indexOf("'; ") + 3));
		}
		String plainAnswer = call(subject, method, twins.plain());
		if (!plainAnswer.equals(fencedAnswer)) {
			return new Outcome(subject, method, "different", plainAnswer + " <> " + fencedAnswer);
		}
		String plainData = dump(twins.plainData());
		String fencedData = dump(twins.fencedData());
		return plainData.equals(fencedData)
				? new Outcome(subject, method, "equal", plainAnswer.startsWith(FAILED) ? "the same error" : "")
				: new Outcome(subject, method, "different", plainData + " <> " + fencedData);
	}

	static String call(Subject subject, Method method, RedisConnectionFactory factory) {
		Object[] arguments = new ParitySamples(subject.key(), subject.bytes()).of(method);
		RedisConnection connection = subject.bytes() ? factory.getConnection() : null;
		try {
			Object target = subject.target(connection, factory);
			method.setAccessible(true);
			return describe(method.invoke(target, arguments));
		}
		catch (InvocationTargetException ex) {
			return FAILED + describe(ex.getTargetException());
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			if (connection != null) {
				connection.close();
			}
		}
	}

	static String describe(Object value) {
		if (value instanceof byte[] bytes) {
			return new String(bytes, StandardCharsets.ISO_8859_1);
		}
		if (value instanceof Throwable thrown) {
			Throwable root = thrown;
			while (root.getCause() != null) {
				root = root.getCause();
			}
			String message = String.valueOf(root.getMessage())
				.replaceAll("f_[0-9a-f]{40}", "f_sha")
				.replaceAll("(?s)[.]? channel: .*", "");
			// the server's text for what it does not know depends on where it is called
			boolean unknown = message.toLowerCase().contains("unknown");
			return thrown.getClass().getName() + "/" + root.getClass().getName() + ":"
					+ (unknown ? "unknown to this server" : message);
		}
		if (value instanceof Cursor<?> cursor) {
			return cursor.stream()
				.map(ParityTests::describe)
				.filter(ParityTests::isNoGuard)
				.sorted()
				.toList()
				.toString();
		}
		if (value instanceof Set<?> set) {
			return set.stream().map(ParityTests::describe).filter(ParityTests::isNoGuard).sorted().toList().toString();
		}
		if (value instanceof Collection<?> collection) {
			return collection.stream().map(ParityTests::describe).toList().toString();
		}
		if (value instanceof Map<?, ?> map) {
			return map.entrySet()
				.stream()
				.map((entry) -> describe(entry.getKey()) + "=" + describe(entry.getValue()))
				.sorted()
				.toList()
				.toString();
		}
		try {
			return String.valueOf(value).replaceAll("@[0-9a-f]{4,}", "@").replaceAll("\\$\\$Lambda[^@]*", "lambda");
		}
		catch (RuntimeException ex) {
			// some of its values cannot show themselves
			return value.getClass().getName();
		}
	}

	private static boolean isNoGuard(String key) {
		return !key.startsWith("fencing:1:");
	}

	static void seed(RedisConnectionFactory factory) {
		new StringRedisTemplate(factory).execute(RedisScript.of(SEED, String.class), List.of());
	}

	private static byte[][] bytes(String... words) {
		return Arrays.stream(words).map((word) -> word.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
	}

	static String dump(RedisConnectionFactory factory) {
		StringRedisTemplate template = new StringRedisTemplate(factory);
		List<String> keys = template.keys("*").stream().filter(ParityTests::isNoGuard).sorted().toList();
		List<Object> answers = template.executePipelined((RedisCallback<?>) (connection) -> {
			for (String key : keys) {
				connection.execute("DEBUG", bytes("DIGEST-VALUE", key));
				connection.keyCommands().ttl(key.getBytes(StandardCharsets.UTF_8));
			}
			return null;
		}, RedisSerializer.byteArray());
		return IntStream.range(0, keys.size())
			.mapToObj((i) -> keys.get(i) + "=" + describe(answers.get(2 * i)) + ":"
					+ ((Long) answers.get(2 * i + 1) + 5) / 10)
			.collect(Collectors.joining("\n"));
	}

	private static String table(Map<String, List<Outcome>> columns) {
		String counts = columns.entrySet()
			.stream()
			.map((column) -> "* " + column.getKey() + ": " + column.getValue().size() + " operations: "
					+ counts(column.getValue()) + "\n")
			.collect(Collectors.joining());
		SortedMap<String, String> rows = new TreeMap<>();
		columns.forEach((driver, outcomes) -> outcomes
			.forEach((outcome) -> rows.merge(outcome.name(), outcome.cells(), String::concat)));
		return counts + "\n| operation |"
				+ columns.keySet().stream().map((driver) -> " " + driver + " | reason |").collect(Collectors.joining())
				+ "\n| --- |" + " --- | --- |".repeat(columns.size()) + "\n"
				+ rows.entrySet()
					.stream()
					.map((row) -> "| `" + row.getKey() + "` |" + row.getValue() + "\n")
					.collect(Collectors.joining());
	}

	private static String counts(List<Outcome> outcomes) {
		return outcomes.stream()
			.collect(Collectors.groupingBy(Outcome::kind, TreeMap::new, Collectors.counting()))
			.entrySet()
			.stream()
			.map((count) -> count.getValue() + " " + count.getKey())
			.collect(Collectors.joining(", "));
	}

	private static void checkDocumentation(String table) {
		try {
			Path generated = Path.of("target", "redis-parity.md");
			Files.createDirectories(generated.getParent());
			Files.writeString(generated, table);
			if (OtherSpringBoot.isUsed()) {
				// the table is that of the version that this project is built with
				return;
			}
			assertThat(Files.readString(Path.of("..", "docs", "redis.md")))
				.as("docs/redis.md ends with what %s has", generated)
				.endsWith(table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** One interface, the key that its methods work on, and how to get it. */
	record Subject(Class<?> type, String key, Function<RedisConnection, Object> commands,
			Function<StringRedisTemplate, Object> operations) {

		static Subject commands(Class<?> type, String key, Function<RedisConnection, Object> commands) {
			return new Subject(type, key, commands, null);
		}

		static Subject operations(Class<?> type, String key, Function<StringRedisTemplate, Object> operations) {
			return new Subject(type, key, null, operations);
		}

		boolean bytes() {
			return this.commands != null;
		}

		Object target(RedisConnection connection, RedisConnectionFactory factory) {
			return (connection != null) ? this.commands.apply(connection)
					: this.operations.apply(new StringRedisTemplate(factory));
		}

		List<Method> methods() {
			return Arrays.stream(this.type.getMethods())
				.filter((method) -> !Modifier.isStatic(method.getModifiers()) && !method.isBridge()
						&& !ReflectionUtils.isObjectMethod(method))
				.sorted(Comparator.comparing(Method::toGenericString))
				.toList();
		}

	}

	/** A plain factory and a fenced one, and what shows the data of each. */
	record Twins(RedisConnectionFactory plain, RedisConnectionFactory fenced, RedisConnectionFactory plainData,
			RedisConnectionFactory fencedData) {
	}

	/** What became of one method. */
	record Outcome(Subject subject, Method method, String kind, String reason) {

		String name() {
			String parameters = Arrays.stream(this.method.getParameterTypes())
				.map(Class::getSimpleName)
				.collect(Collectors.joining(", "));
			return this.subject.type().getSimpleName() + "." + this.method.getName() + "(" + parameters + ")";
		}

		String cells() {
			return " " + this.kind + " | " + this.reason + " |";
		}

	}

	/** What is compared; those of one column have the same outcomes. */
	enum Driver {

		LETTUCE_RESP2("Lettuce", (url, database) -> FencedRedis.newFactory(url, ProtocolVersion.RESP2, database)),

		LETTUCE_RESP3("Lettuce", (url, database) -> FencedRedis.newFactory(url, ProtocolVersion.RESP3, database)),

		JEDIS("Jedis", (url, database) -> JedisFenceTests.newFactory(url, true, database)),

		REDISSON("Redisson", RedissonFactoryFenceTests::newFactory);

		private final String column;

		private final Factories factories;

		Driver(String column, Factories factories) {
			this.column = column;
			this.factories = factories;
		}

		RedisConnectionFactory create(String url, int database) {
			return this.factories.create(url, database);
		}

	}

	/** Makes the connection factory of a driver. */
	@FunctionalInterface
	interface Factories {

		RedisConnectionFactory create(String url, int database);

	}

}
