package io.fencing.autoconfigure;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationContext;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.GenericJacksonJsonRedisSerializer;
import org.springframework.data.redis.serializer.JacksonJsonRedisSerializer;
import org.springframework.data.redis.serializer.RedisSerializer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Serializers of every kind: the bytes of keys and values are those of a plain template.
 */
class FencedSerializersTests extends RedisApplicationTests {

	private static Map<String, RedisSerializer<?>> serializers() {
		Map<String, RedisSerializer<?>> serializers = new LinkedHashMap<>();
		serializers.put("string", RedisSerializer.string());
		serializers.put("jdk", RedisSerializer.java());
		serializers.put("generic json",
				GenericJacksonJsonRedisSerializer.builder().enableUnsafeDefaultTyping().build());
		serializers.put("typed json", new JacksonJsonRedisSerializer<>(String.class));
		serializers.put("bytes", new Reversed());
		return serializers;
	}

	private RedisTemplate<String, Object> template(ApplicationContext context, RedisSerializer<?> serializer) {
		RedisTemplate<String, Object> template = new RedisTemplate<>();
		template.setConnectionFactory(context.getBean(RedisConnectionFactory.class));
		template.setKeySerializer(RedisSerializer.string());
		template.setDefaultSerializer(serializer);
		template.afterPropertiesSet();
		return template;
	}

	@Test
	void case56WhenSerializedThenBytesAreThoseOfAPlainTemplate() {
		this.runner.run((context) -> {
			for (Map.Entry<String, RedisSerializer<?>> one : serializers().entrySet()) {
				RedisTemplate<String, Object> template = template(context, one.getValue());
				String plain = this.prefix + one.getKey() + ":";
				String fenced = this.prefix + one.getKey() + ";";
				write(template, plain);
				call(context, () -> {
					write(template, fenced);
					assertThat(template.opsForValue().get(fenced + "value")).isEqualTo("v");
					assertThat(template.opsForHash().get(fenced + "hash", "k")).isEqualTo("v");
					return true;
				});
				assertThat(raw(fenced)).as(one.getKey()).hasSize(3).isEqualTo(raw(plain));
				assertFenced(context, () -> template.opsForList().rightPush(fenced + "list", "more"));
			}
		});
	}

	private static void write(RedisTemplate<String, Object> template, String keys) {
		template.opsForValue().set(keys + "value", "v");
		template.opsForHash().put(keys + "hash", "k", "v");
		template.opsForList().rightPushAll(keys + "list", List.of("a", "b"));
	}

	private List<String> raw(String keys) {
		return stored().entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith(keys))
			.map(Map.Entry::getValue)
			.toList();
	}

	@Test
	void case56WhenTemplateHasItsDefaultsThenKeysAreObjectsAndGuardsAreNot() {
		this.runner.run((context) -> {
			@SuppressWarnings("unchecked")
			RedisTemplate<Object, Object> objects = (RedisTemplate<Object, Object>) context.getBean("redisTemplate");
			Account key = new Account(this.key);
			call(context, () -> {
				objects.opsForValue().set(key, new Account("42"));
				assertThat(objects.opsForValue().get(key)).isEqualTo(new Account("42"));
				return true;
			});
			assertThat(template(context).opsForValue().get(guard(context))).matches("[0-9]+:.+");
			assertThat(objects.delete(key)).isTrue();
		});
	}

	// a counter that is written as an object cannot be counted, with a fence or without
	@Test
	void case56WhenCounterIsABlobThenIncrementFailsAsItDoesPlainly() {
		this.runner.run((context) -> {
			RedisTemplate<String, Object> objects = template(context, RedisSerializer.java());
			objects.opsForValue().set(this.key, 1L);
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> objects.opsForValue().increment(this.key))
				.havingRootCause()
				.withMessageContaining("not an integer");
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> call(context, () -> objects.opsForValue().increment(this.key)))
				.havingRootCause()
				.withMessageContaining("not an integer");
		});
	}

	@Test
	void case56WhenTypesClashThenWrongTypeReachesTheCaller() {
		this.runner.run((context) -> {
			StringRedisTemplate strings = template(context);
			strings.opsForList().rightPush(this.key, "a");
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> call(context, () -> strings.opsForValue().increment(this.key)))
				.havingRootCause()
				.withMessageStartingWith("WRONGTYPE");
			// as plainly
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> strings.opsForValue().increment(this.key))
				.isNotInstanceOf(InvalidDataAccessApiUsageException.class);
		});
	}

	@Test
	void case56WhenGuardHasAnotherTypeThenNothingIsWrittenAndTheErrorNamesIt() {
		this.runner.run((context) -> {
			console().send("RPUSH " + guard(context) + " x");
			assertThatExceptionOfType(RedisSystemException.class)
				.isThrownBy(() -> call(context, () -> template(context).opsForValue().increment(this.key)))
				.havingRootCause()
				.withMessageStartingWith("WRONGTYPE " + guard(context));
			assertThat(template(context).hasKey(this.key)).isFalse();
			console().send("DEL " + guard(context));
		});
	}

	/** An application's own serializer, whose bytes are no text. */
	private static final class Reversed implements RedisSerializer<Object> {

		@Override
		public byte[] serialize(Object value) {
			byte[] bytes = ("\0" + value).getBytes(StandardCharsets.UTF_16);
			for (int i = 0; i < bytes.length; i++) {
				bytes[i] = (byte) ~bytes[i];
			}
			return bytes;
		}

		@Override
		public Object deserialize(byte[] bytes) {
			if (bytes == null) {
				return null;
			}
			byte[] back = bytes.clone();
			for (int i = 0; i < back.length; i++) {
				back[i] = (byte) ~back[i];
			}
			return new String(back, StandardCharsets.UTF_16).substring(1);
		}

	}

	/**
	 * A key, and a value.
	 *
	 * @param name its name
	 */
	record Account(String name) implements Serializable {
	}

}
