package io.fencing.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Pooled connections, one operation after the other on the same one.
 */
class FencedPoolTests extends RedisApplicationTests {

	private byte[] rawKey() {
		return this.key.getBytes(StandardCharsets.UTF_8);
	}

	private List<Object> pipeline(ApplicationContext context) {
		return template(context).executePipelined((RedisCallback<Object>) (connection) -> {
			connection.stringCommands().incr(rawKey());
			connection.stringCommands().incr(rawKey());
			return null;
		});
	}

	private List<Object> transaction(ApplicationContext context, boolean fails) {
		return template(context).execute(new SessionCallback<List<Object>>() {

			@Override
			@SuppressWarnings("unchecked")
			public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
				operations.multi();
				operations.opsForValue().increment((K) FencedPoolTests.this.key);
				if (fails) {
					throw new IllegalStateException("before EXEC");
				}
				return operations.exec();
			}

		});
	}

	// the shared connection comes from the pool as well, so that one is left
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whenPooledThenFencedAndConnectionsAreGivenBackClean(boolean shared) {
		this.runner
			.withPropertyValues("spring.data.redis.lettuce.pool.enabled=true",
					"spring.data.redis.lettuce.pool.max-active=" + (shared ? 2 : 1),
					"spring.data.redis.lettuce.pool.max-wait=5s")
			.run((context) -> {
				LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
				assertThat(factory.getClientConfiguration()).isInstanceOf(LettucePoolingClientConfiguration.class);
				factory.setShareNativeConnection(shared);
				assertFenced(context, () -> template(context).opsForValue().increment(this.key));
				assertFenced(context, () -> pipeline(context));
				assertFenced(context, () -> transaction(context, false));
				assertThatIllegalStateException().isThrownBy(() -> call(context, () -> transaction(context, true)));
				assertIsClean(context);
			});
	}

	@Test
	void whenConnectionHasMovedToAnotherDatabaseThenItComesBackToItsOwn() {
		this.runner
			.withPropertyValues("spring.data.redis.lettuce.pool.enabled=true",
					"spring.data.redis.lettuce.pool.max-active=1")
			.run((context) -> {
				LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
				factory.setShareNativeConnection(false);
				call(context, () -> {
					try (RedisConnection connection = factory.getConnection()) {
						connection.select(3);
						connection.stringCommands().set(rawKey(), rawKey());
						assertThat(connection.keyCommands().exists(guard(context).getBytes(StandardCharsets.UTF_8)))
							.isTrue();
						connection.keyCommands().del(rawKey());
					}
					return true;
				});
				assertThat(template(context).hasKey(guard(context))).isFalse();
				assertFenced(context, () -> template(context).opsForValue().increment(this.key));
				assertIsClean(context);
			});
	}

	private void assertIsClean(ApplicationContext context) throws Exception {
		template(context).opsForValue().set(this.key, "0");
		assertThat(transaction(context, false)).containsExactly(1L);
		assertThat(pipeline(context)).containsExactly(2L, 3L);
		assertThat(template(context).opsForValue().increment(this.key)).isEqualTo(4);
		assertThat(call(context, () -> transaction(context, false))).containsExactly(5L);
		assertThat(call(context, () -> pipeline(context))).containsExactly(6L, 7L);
	}

}
