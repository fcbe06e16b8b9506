package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import io.lettuce.core.protocol.ProtocolVersion;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Functions of Redis 7, which no script can call.
 */
@ParameterizedClass
@EnumSource
class FunctionTests {

	private static final String LIBRARY = """
			#!lua name=fencing_test
			redis.register_function('add', function(keys, args)
				redis.call('INCRBY', keys[1], args[1])
				return {'sum', redis.call('GET', keys[1])}
			end)
			redis.register_function('fail', function(keys, args)
				return redis.error_reply('ERR no')
			end)
			redis.register_function{function_name='look', flags={'no-writes'}, callback=function(keys, args)
				return redis.call('GET', keys[1])
			end}
			""";

	private final String url = TestServers.redis7Url();

	private final FencedRedis redis = new FencedRedis();

	private final String key = this.redis.key("a");

	private final RedisConnectionFactory factory;

	private final StringRedisTemplate plain;

	private final StringRedisTemplate template;

	FunctionTests(Driver driver) throws Exception {
		this.factory = this.redis.fenceAny(driver.create(this.url));
		this.template = new StringRedisTemplate(this.factory);
		this.plain = new StringRedisTemplate(FencedRedis.startAny(driver.create(this.url)));
	}

	@BeforeEach
	void load() {
		call(this.plain, "FUNCTION", "LOAD", "REPLACE", LIBRARY);
	}

	@AfterEach
	void close() throws Exception {
		this.plain.delete(this.key);
		((DisposableBean) this.plain.getRequiredConnectionFactory()).destroy();
		((DisposableBean) this.factory).destroy();
		this.redis.close();
	}

	private static Object call(StringRedisTemplate template, String... command) {
		byte[][] words = Arrays.stream(command)
			.skip(1)
			.map((word) -> word.getBytes(StandardCharsets.UTF_8))
			.toArray(byte[][]::new);
		return text(template.execute((RedisCallback<?>) (connection) -> connection.execute(command[0], words)));
	}

	private static Object text(Object reply) {
		if (reply instanceof List<?> list) {
			return list.stream().map(FunctionTests::text).toList();
		}
		return (reply instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : reply;
	}

	private Held next() {
		return FencedRedis.next(this.key);
	}

	private static StaleTokenException stale(Callable<?> work) {
		return assertThatExceptionOfType(StaleTokenException.class).isThrownBy(work::call).actual();
	}

	@Test
	void whenFunctionIsCalledThenResultIsThatOfAPlainCall() throws Exception {
		Object sum = call(this.plain, "FCALL", "add", "1", this.key, "3");
		this.plain.delete(this.key);
		Throwable failure = Assertions.catchThrowable(() -> call(this.plain, "FCALL", "fail", "0"));
		Throwable unknown = Assertions.catchThrowable(() -> call(this.plain, "FCALL", "absent", "0"));
		FencedRedis.in(FencedRedis.operation(next()), () -> {
			assertThat(call(this.template, "fcall", "add", "1", this.key, "3")).isEqualTo(sum);
			assertThat(call(this.template, "FCALL_RO", "look", "1", this.key)).isEqualTo("3");
			assertThat(Assertions.catchThrowable(() -> call(this.template, "FCALL", "fail", "0")))
				.hasSameClassAs(failure)
				.hasMessage(failure.getMessage());
			assertThat(Assertions.catchThrowable(() -> call(this.template, "FCALL", "absent", "0")))
				.hasSameClassAs(unknown)
				.hasMessage(unknown.getMessage());
			return true;
		});
		assertThat(this.plain.opsForValue().get(this.key)).isEqualTo("3");
	}

	@Test
	void rule1WhenFunctionIsTheFirstAccessThenItClaims() throws Exception {
		Held held = next();
		FencedRedis.in(FencedRedis.operation(held), () -> call(this.template, "FCALL", "add", "1", this.key, "1"));
		assertThat(this.plain.opsForValue().get(this.redis.guard(held)))
			.isEqualTo(held.token().value() + ":" + held.token().owner());
		assertThat(this.redis.events()).containsExactly("admitted redis");
	}

	@Test
	void whenStaleThenFunctionIsNotCalled() throws Exception {
		OperationContext older = FencedRedis.operation(next());
		FencedRedis.in(older, () -> call(this.template, "FCALL", "add", "1", this.key, "1"));
		FencedRedis.in(FencedRedis.operation(next()), () -> call(this.template, "FCALL_RO", "look", "1", this.key));
		assertThat(stale(() -> FencedRedis.in(older, () -> call(this.template, "FCALL", "add", "1", this.key, "5")))
			.getReason()).isEqualTo(RejectionReason.STALE);
		assertThat(this.plain.opsForValue().get(this.key)).isEqualTo("1");
	}

	@Test
	void rule3WhenGuardIsDeletedThenFunctionIsNotCalled() throws Exception {
		Held held = next();
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> this.template.opsForValue().get(this.key));
		this.plain.delete(this.redis.guard(held));
		assertThat(stale(() -> FencedRedis.in(context, () -> call(this.template, "FCALL", "add", "1", this.key, "5")))
			.getReason()).isEqualTo(RejectionReason.MISSING);
		assertThat(this.plain.hasKey(this.key)).isFalse();
	}

	@Test
	void whenCallerWatchesThenFunctionIsRefused() {
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> FencedRedis
			.in(FencedRedis.operation(next()), () -> this.template.execute((RedisCallback<?>) (connection) -> {
				connection.watch(this.key.getBytes(StandardCharsets.UTF_8));
				return connection.execute("FCALL", "add".getBytes(StandardCharsets.UTF_8),
						"1".getBytes(StandardCharsets.UTF_8), this.key.getBytes(StandardCharsets.UTF_8),
						"1".getBytes(StandardCharsets.UTF_8));
			})));
		assertThat(this.plain.hasKey(this.key)).isFalse();
	}

	/** Those that can call functions. */
	enum Driver {

		LETTUCE, JEDIS;

		RedisConnectionFactory create(String url) {
			return (this == LETTUCE) ? FencedRedis.newFactory(url, ProtocolVersion.RESP3)
					: JedisFenceTests.newFactory(url, true, 0);
		}

	}

}
