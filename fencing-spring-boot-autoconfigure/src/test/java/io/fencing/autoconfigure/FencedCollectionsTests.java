package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.support.atomic.RedisAtomicDouble;
import org.springframework.data.redis.support.atomic.RedisAtomicInteger;
import org.springframework.data.redis.support.atomic.RedisAtomicLong;
import org.springframework.data.redis.support.collections.DefaultRedisList;
import org.springframework.data.redis.support.collections.DefaultRedisMap;
import org.springframework.data.redis.support.collections.DefaultRedisSet;
import org.springframework.data.redis.support.collections.DefaultRedisZSet;
import org.springframework.data.redis.support.collections.RedisProperties;

/**
 * What Spring Data Redis builds on templates: counters, collections, bound operations,
 * streams.
 */
class FencedCollectionsTests extends RedisApplicationTests {

	private Map<String, Write> writes(ApplicationContext context) {
		RedisConnectionFactory factory = context.getBean(RedisConnectionFactory.class);
		StringRedisTemplate template = template(context);
		RedisAtomicLong number = new RedisAtomicLong(this.prefix + "long", factory, 5);
		RedisAtomicInteger integer = new RedisAtomicInteger(this.prefix + "int", factory, 5);
		RedisAtomicDouble real = new RedisAtomicDouble(this.prefix + "double", factory, 5);
		DefaultRedisList<String> list = new DefaultRedisList<>(this.prefix + "list", template);
		DefaultRedisMap<String, String> map = new DefaultRedisMap<>(this.prefix + "map", template);
		DefaultRedisSet<String> set = new DefaultRedisSet<>(this.prefix + "set", template);
		DefaultRedisZSet<String> sorted = new DefaultRedisZSet<>(this.prefix + "zset", template);
		RedisProperties properties = new RedisProperties(this.prefix + "properties", template);
		Map<String, Write> writes = new LinkedHashMap<>();
		writes.put("atomic long", number::incrementAndGet);
		writes.put("atomic long, compared", () -> number.compareAndSet(number.get(), number.get() + 10));
		writes.put("atomic integer", () -> integer.addAndGet(3));
		writes.put("atomic double", () -> real.addAndGet(0.5));
		writes.put("list", () -> list.add("a"));
		writes.put("list, removed", () -> list.remove("a"));
		writes.put("map", () -> map.put("k", map.getOrDefault("k", "") + "v"));
		writes.put("map, replaced", () -> map.replace("k", map.get("k"), "w"));
		writes.put("set", () -> set.add("m" + set.size()));
		writes.put("sorted set", () -> sorted.add("m", sorted.size() + 1));
		writes.put("properties", () -> properties.setProperty("p", "v"));
		writes.put("bound value", () -> template.boundValueOps(this.key).append("x"));
		writes.put("bound hash", () -> template.boundHashOps(this.prefix + "hash").increment("h", 1));
		writes.put("bound list", () -> template.boundListOps(this.prefix + "boundlist").leftPush("x"));
		writes.put("bound set", () -> template.boundSetOps(this.prefix + "boundset").add("x"));
		writes.put("bound sorted set", () -> template.boundZSetOps(this.prefix + "boundzset").incrementScore("x", 1));
		writes.put("bound expiry", () -> template.boundValueOps(this.key).set("y", Duration.ofDays(1)));
		writes.put("stream", () -> template.opsForStream()
			.add(StreamRecords.string(Map.of("f", "v")).withStreamKey(this.prefix + "stream")));
		writes.put("stream group",
				() -> template.boundStreamOps(this.prefix + "stream").createGroup(ReadOffset.from("0"), "g"));
		writes.put("stream trimmed", () -> template.opsForStream().trim(this.prefix + "stream", 0));
		writes.put("renamed", () -> template.rename(this.key, this.prefix + "renamed"));
		return writes;
	}

	@Test
	void whenCollectionsAreWrittenThenFenced() {
		this.runner.run((context) -> {
			for (Map.Entry<String, Write> write : writes(context).entrySet()) {
				try {
					assertFenced(context, write.getValue());
				}
				catch (AssertionError | Exception ex) {
					throw new AssertionError(write.getKey(), ex);
				}
			}
		});
	}

}
