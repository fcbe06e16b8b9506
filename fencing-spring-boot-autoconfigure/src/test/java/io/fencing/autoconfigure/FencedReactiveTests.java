package io.fencing.autoconfigure;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.IntStream;

import io.fencing.StaleTokenException;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Reactive templates of a fenced factory, whose commands come from the driver's threads.
 */
class FencedReactiveTests extends RedisApplicationTests {

	private static ReactiveStringRedisTemplate reactive(ApplicationContext context) {
		return context.getBean(ReactiveStringRedisTemplate.class);
	}

	@Test
	void whenSharedThenComposedCommandsAreFenced() {
		this.runner.run((context) -> {
			assertFenced(context, () -> reactive(context).opsForValue().increment(this.key).block());
			assertComposedIsFenced(context);
		});
	}

	@Test
	void whenNotSharedThenComposedCommandsAreFenced() {
		this.runner.run((context) -> {
			context.getBean(LettuceConnectionFactory.class).setShareNativeConnection(false);
			assertFenced(context, () -> reactive(context).opsForValue().increment(this.key).block());
			assertComposedIsFenced(context);
		});
	}

	@Test
	void whenPooledThenComposedCommandsAreFenced() {
		this.runner
			.withPropertyValues("spring.data.redis.lettuce.pool.enabled=true",
					"spring.data.redis.lettuce.pool.max-active=8")
			.run((context) -> {
				context.getBean(LettuceConnectionFactory.class).setShareNativeConnection(false);
				assertFenced(context, () -> reactive(context).opsForValue().increment(this.key).block());
				assertComposedIsFenced(context);
			});
	}

	// what is composed after a command is sent by the driver's thread
	private void assertComposedIsFenced(ApplicationContext context) throws Exception {
		assertFenced(context,
				() -> reactive(context).opsForValue()
					.get(this.key)
					.flatMap((value) -> reactive(context).opsForValue().set(this.key, value + "0"))
					.block());
		template(context).opsForSet().add(this.prefix + "set", "a", "b", "c");
		assertFenced(context,
				() -> reactive(context).opsForSet()
					.members(this.prefix + "set")
					.flatMap((member) -> reactive(context).opsForHash().increment(this.prefix + "hash", member, 1))
					.then(reactive(context).opsForList().rightPush(this.prefix + "list", "end"))
					.block());
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context,
				() -> reactive(context).opsForValue()
					.get(this.key)
					.doOnNext((value) -> console().send("SET " + guard(context) + " 9000000000000000:newer"))
					.flatMap((value) -> reactive(context).opsForValue().set(this.key, "stale"))
					.block()));
		assertThat(template(context).opsForValue().get(this.key)).isNotEqualTo("stale");
		console().send("DEL " + guard(context));
	}

	// a pool hands the same connection to one operation after the other
	@Test
	void whenPooledThenNoConnectionRemembersAnEarlierOperation() {
		this.runner
			.withPropertyValues("spring.data.redis.lettuce.pool.enabled=true",
					"spring.data.redis.lettuce.pool.max-active=1")
			.run((context) -> {
				context.getBean(LettuceConnectionFactory.class).setShareNativeConnection(false);
				IntStream.range(0, 3).forEach((i) -> {
					try {
						call(context, () -> reactive(context).opsForValue().increment(this.key).block());
					}
					catch (Exception ex) {
						throw new IllegalStateException(ex);
					}
				});
				// outside
				assertThat(reactive(context).opsForValue().increment(this.key).block(Duration.ofSeconds(5)))
					.isEqualTo(4);
			});
	}

	@Test
	void whenConnectionIsHandedToOtherThreadsThenItStaysInItsOperation() {
		this.runner.run((context) -> assertFenced(context,
				() -> reactive(context)
					.execute((connection) -> Mono.delay(Duration.ofMillis(1))
						.then(connection.stringCommands()
							.append(ByteBuffer.wrap(this.key.getBytes(StandardCharsets.UTF_8)),
									ByteBuffer.wrap("x".getBytes(StandardCharsets.UTF_8)))))
					.blockLast()));
	}

}
