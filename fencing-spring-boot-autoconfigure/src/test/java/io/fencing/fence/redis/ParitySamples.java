package io.fencing.fence.redis;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.springframework.data.domain.Range;
import org.springframework.data.geo.Circle;
import org.springframework.data.geo.Distance;
import org.springframework.data.geo.Metric;
import org.springframework.data.geo.Point;
import org.springframework.data.redis.connection.BitFieldSubCommands;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.DefaultSortParameters;
import org.springframework.data.redis.connection.ExpirationOptions;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisGeoCommands;
import org.springframework.data.redis.connection.RedisListCommands;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisStreamCommands;
import org.springframework.data.redis.connection.RedisStringCommands;
import org.springframework.data.redis.connection.RedisZSetCommands;
import org.springframework.data.redis.connection.SortParameters;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.connection.zset.Tuple;
import org.springframework.data.redis.connection.zset.Weights;
import org.springframework.data.redis.core.BulkMapper;
import org.springframework.data.redis.core.KeyScanOptions;
import org.springframework.data.redis.core.ListOperations;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.ZSetOperations;
import org.springframework.data.redis.core.query.SortQuery;
import org.springframework.data.redis.core.query.SortQueryBuilder;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.core.types.Expiration;
import org.springframework.data.redis.domain.geo.GeoReference;
import org.springframework.data.redis.domain.geo.GeoShape;
import org.springframework.data.redis.hash.HashMapper;
import org.springframework.data.redis.hash.ObjectHashMapper;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;

/**
 * Sample arguments for any method of Spring Data Redis's interfaces, by the types and
 * names of its parameters.
 */
final class ParitySamples {

	private final String main;

	private final boolean bytes;

	/**
	 * Create samples.
	 * @param main the key that most methods work on
	 * @param bytes whether keys and values are bytes, else texts
	 */
	ParitySamples(String main, boolean bytes) {
		this.main = main;
		this.bytes = bytes;
	}

	Object[] of(Method method) {
		Parameter[] parameters = method.getParameters();
		Object[] samples = new Object[parameters.length];
		for (int i = 0; i < samples.length; i++) {
			samples[i] = of(parameters[i].getParameterizedType(), parameters[i].getType(), parameters[i].getName(),
					method.getName());
		}
		return samples;
	}

	private Object of(Type generic, Class<?> type, String name, String method) {
		if (type == long.class
				&& (name.contains("illi") || method.startsWith("pExpire") || method.startsWith("pSet"))) {
			return 1_000_000L;
		}
		if (type == byte[].class) {
			return text(name, method).getBytes(StandardCharsets.UTF_8);
		}
		if (type.isArray() && type != int[].class) {
			return array(generic, type, name, method);
		}
		if (type == Object.class || type == String.class) {
			return text(name, method);
		}
		Object sample = SAMPLES.get(type);
		if (sample != null) {
			return sample;
		}
		if (type == Map.class) {
			return map(method);
		}
		if (Collection.class.isAssignableFrom(type) || type == Iterable.class) {
			Object one = element(generic, name, method);
			return (type == Set.class) ? Set.of(one) : List.of(one);
		}
		return ofSpring(type, name, method);
	}

	private Object array(Type generic, Class<?> type, String name, String method) {
		Class<?> component = type.getComponentType();
		Type element = (generic instanceof GenericArrayType array) ? array.getGenericComponentType() : component;
		Object array = Array.newInstance(component, (name.startsWith("key") && component == byte[].class) ? 2 : 1);
		Array.set(array, 0, of(element, component, singular(name), method));
		if (Array.getLength(array) > 1) {
			Array.set(array, 1, value(this.main + "2"));
		}
		return array;
	}

	private static String singular(String name) {
		return name.endsWith("s") ? name.substring(0, name.length() - 1) : name;
	}

	private Object element(Type generic, String name, String method) {
		Type argument = (generic instanceof ParameterizedType parameterized) ? parameterized.getActualTypeArguments()[0]
				: String.class;
		Type rawType = (argument instanceof ParameterizedType nested) ? nested.getRawType() : argument;
		Class<?> raw = (rawType instanceof Class<?> plain) ? plain : Object.class;
		return of(argument, raw, singular(name), method);
	}

	private Map<Object, Object> map(String method) {
		Map<Object, Object> map = new LinkedHashMap<>();
		if (this.main.equals("geo")) {
			map.put(value("m9"), new Point(13.5, 52.5));
			return map;
		}
		boolean strings = method.toLowerCase().contains("set") && this.main.equals("str");
		map.put(value(strings ? "str" : "f1"), value("x"));
		map.put(value(strings ? "new" : "f9"), value(""));
		return map;
	}

	private Object value(String text) {
		return this.bytes ? text.getBytes(StandardCharsets.UTF_8) : text;
	}

	private String text(String name, String method) {
		String lower = name.toLowerCase();
		if (lower.contains("dest") || lower.equals("dstkey") || lower.equals("newname") || lower.equals("targetkey")
				|| lower.equals("newkey") || lower.equals("storekey")) {
			return "dest";
		}
		if (lower.contains("other")) {
			return this.main + "2";
		}
		if (lower.contains("hashkey") || lower.contains("field")) {
			return "f1";
		}
		if (lower.contains("key") || lower.equals("oldname")) {
			return this.main;
		}
		return switch (lower) {
			case "pattern" -> "*";
			case "script" -> "return redis.call('GET', KEYS[1])";
			case "scriptsha", "scriptsha1" -> "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
			case "group", "groupname" -> "g";
			case "consumer", "consumername", "newowner" -> "c";
			case "command" -> "GET";
			case "channel" -> "channel";
			case "args", "keysandargs" -> this.main;
			case "member1" -> "m1";
			case "member2" -> "m2";
			default -> switch (this.main) {
				case "str" -> "7";
				case "list" -> "b";
				default -> "m1";
			};
		};
	}

	private Object ofSpring(Class<?> type, String name, String method) {
		return switch (type.getSimpleName()) {
			case "Range" -> (type == Range.class) ? Range.unbounded() : RedisZSetCommands.Range.unbounded();
			case "StreamOffset" -> StreamOffset.create(value("stream"), ReadOffset.from("0"));
			case "MapRecord",
					"Record" ->
				StreamRecords.newRecord()
					.in(value("stream"))
					.withId(RecordId.of("9-9"))
					.ofMap(Map.of(value("f1"), value("x")));
			case "ByteRecord" -> StreamRecords.newRecord()
				.in("stream".getBytes())
				.withId(RecordId.of("9-9"))
				.ofBytes(Map.of("f1".getBytes(), "x".getBytes()));
			case "GeoReference" -> GeoReference.fromMember(value("m1"));
			case "GeoLocation" -> new RedisGeoCommands.GeoLocation<>(value("m9"), new Point(13.5, 52.5));
			case "MoveFrom" -> ListOperations.MoveFrom.fromHead("list");
			case "MoveTo" -> ListOperations.MoveTo.toTail("list2");
			case "SortQuery" -> (SortQuery<?>) SortQueryBuilder.sort("list").alphabetical(true).build();
			case "Tuple" -> Tuple.of("m9".getBytes(), 9.5);
			case "TypedTuple" -> ZSetOperations.TypedTuple.of("m9", 9.5);
			default -> staticSample(type);
		};
	}

	/** An enumeration's first value, or what a static method without arguments gives. */
	private static Object staticSample(Class<?> type) {
		if (type.isEnum()) {
			return type.getEnumConstants()[0];
		}
		return Arrays.stream(type.getMethods())
			.filter((method) -> Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0
					&& type.isAssignableFrom(method.getReturnType()))
			.min(Comparator.comparing(Method::getName))
			.map((method) -> {
				try {
					return method.invoke(null);
				}
				catch (ReflectiveOperationException ex) {
					throw new IllegalStateException(ex);
				}
			})
			.orElseThrow(() -> new IllegalArgumentException("no sample of type " + type.getSimpleName()));
	}

	private static final Map<Class<?>, Object> SAMPLES = samples();

	private static Map<Class<?>, Object> samples() {
		Map<Class<?>, Object> samples = new HashMap<>();
		samples.put(long.class, 1L);
		samples.put(Long.class, 1L);
		samples.put(int.class, 0);
		samples.put(Integer.class, 0);
		samples.put(int[].class, new int[] { 0 });
		samples.put(double.class, 1.5);
		samples.put(Double.class, 1.5);
		samples.put(Number.class, 1.5);
		samples.put(boolean.class, true);
		samples.put(Class.class, String.class);
		samples.put(Duration.class, Duration.ofSeconds(1000));
		samples.put(TimeUnit.class, TimeUnit.MINUTES);
		samples.put(Instant.class, Instant.ofEpochSecond(4_000_000_000L));
		samples.put(Date.class, Date.from(Instant.ofEpochSecond(4_000_000_000L)));
		samples.put(Expiration.class, Expiration.seconds(1000));
		samples.put(Limit.class, Limit.unlimited());
		samples.put(Weights.class, Weights.of(1, 2));
		samples.put(Point.class, new Point(13.4, 52.5));
		samples.put(Distance.class, new Distance(200, RedisGeoCommands.DistanceUnit.KILOMETERS));
		samples.put(Metric.class, RedisGeoCommands.DistanceUnit.KILOMETERS);
		samples.put(Circle.class,
				new Circle(new Point(13.4, 52.5), new Distance(500, RedisGeoCommands.DistanceUnit.KILOMETERS)));
		samples.put(org.springframework.data.redis.domain.geo.BoundingBox.class,
				new org.springframework.data.redis.domain.geo.BoundingBox(500, 500,
						RedisGeoCommands.DistanceUnit.KILOMETERS));
		samples.put(GeoShape.class, GeoShape.byRadius(new Distance(500, RedisGeoCommands.DistanceUnit.KILOMETERS)));
		samples.put(ScanOptions.class, ScanOptions.NONE);
		samples.put(KeyScanOptions.class, KeyScanOptions.scanOptions(DataType.STRING).match("s*").build());
		putIfPresent(samples, "CompareCondition", "T(%s).ifEquals('10'.bytes)");
		samples.put(SessionCallback.class, new Discarded("str"));
		samples.put(HashMapper.class, new ObjectHashMapper());
		samples.put(BulkMapper.class, (BulkMapper<Object, Object>) String::valueOf);
		samples.put(SortParameters.class, new DefaultSortParameters().alpha());
		samples.put(BitFieldSubCommands.class,
				BitFieldSubCommands.create().incr(BitFieldSubCommands.BitFieldType.unsigned(8)).valueAt(0).by(3));
		samples.put(RedisStringCommands.BitOperation.class, RedisStringCommands.BitOperation.OR);
		samples.put(RedisListCommands.Direction.class, RedisListCommands.Direction.first());
		samples.put(RecordId.class, RecordId.of("1-1"));
		samples.put(ReadOffset.class, ReadOffset.from("0"));
		samples.put(StreamReadOptions.class, StreamReadOptions.empty());
		samples.put(org.springframework.data.redis.connection.stream.Consumer.class,
				org.springframework.data.redis.connection.stream.Consumer.from("g", "c"));
		samples.put(RedisStreamCommands.XClaimOptions.class,
				RedisStreamCommands.XClaimOptions.minIdle(Duration.ZERO).ids("1-1"));
		putIfPresent(samples, "RedisStreamCommands$XTrimOptions",
				"T(%s).trim(T(org.springframework.data.redis.connection.RedisStreamCommands$TrimOptions).maxLen(1))");
		samples.put(ExpirationOptions.class, ExpirationOptions.none());
		samples.put(RedisScript.class, RedisScript.of("return {redis.call('INCR', KEYS[1]), ARGV[1]}", List.class));
		samples.put(RedisCallback.class, (RedisCallback<Object>) (connection) -> null);
		samples.put(Consumer.class, (Consumer<Object>) (anything) -> {
		});
		samples.put(RedisNode.class, new RedisNode("127.0.0.1", 1));
		samples.put(MessageListener.class, (MessageListener) (message, pattern) -> {
		});
		samples.put(RedisSerializer.class, RedisSerializer.string());
		return samples;
	}

	// not in Spring Data Redis 4.0
	private static void putIfPresent(Map<Class<?>, Object> samples, String name, String expression) {
		String type = "org.springframework.data.redis.connection." + name;
		if (ClassUtils.isPresent(type, null)) {
			Object sample = new SpelExpressionParser().parseExpression(expression.formatted(type)).getValue();
			samples.put(ClassUtils.resolveClassName(type, null), sample);
		}
	}

}
