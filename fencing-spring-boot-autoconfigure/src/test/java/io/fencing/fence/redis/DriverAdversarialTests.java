package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers that all believe to hold the lease read a counter, pause and write it back plus
 * one, while the guard is deleted at random: no write that was acknowledged is ever
 * written over by one that did not see it.
 */
@Tag("faults")
class DriverAdversarialTests {

	private static final int WORKERS = 8;

	@ParameterizedTest
	@EnumSource
	void rules1To4WhenHoldersOverlapAndGuardsAreDeletedThenNoUpdateIsLost(Driver driver) throws Exception {
		Assumptions.assumeFalse(driver == Driver.REDISSON && OtherSpringBoot.isUsed(), OtherSpringBoot.NO_REDISSON);
		try (FencedRedis redis = new FencedRedis()) {
			RedisConnectionFactory factory = redis.fenceAny(driver.create(TestServers.redisUrl()));
			StringRedisTemplate template = new StringRedisTemplate(factory);
			String key = redis.key("counter");
			String list = redis.key("written");
			redis.plain().opsForValue().set(key, "0");
			AtomicInteger refused = new AtomicInteger();
			AtomicInteger deleted = new AtomicInteger();
			long end = System.nanoTime()
					+ Duration.ofSeconds(Integer.getInteger("fencing.faults.seconds", 5)).toNanos();
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < WORKERS; i++) {
				Thread thread = new Thread(() -> {
					while (System.nanoTime() < end) {
						Held held = FencedRedis.next(key);
						int fault = ThreadLocalRandom.current().nextInt(20);
						if (add(driver, template, key, list, held, fault)) {
							refused.incrementAndGet();
						}
						if (fault == 0) {
							redis.plain().delete(redis.guard(held));
							deleted.incrementAndGet();
						}
					}
				}, "worker-" + i);
				thread.start();
				threads.add(thread);
			}
			for (Thread thread : threads) {
				thread.join();
			}
			long writes = redis.plain().opsForList().size(list);
			assertThat(redis.plain().opsForValue().get(key)).isEqualTo(Long.toString(writes));
			assertThat(writes).isPositive();
			assertThat(refused).hasPositiveValue();
			assertThat(deleted).hasPositiveValue();
			((DisposableBean) factory).destroy();
		}
	}

	// whether it was refused
	private static boolean add(Driver driver, StringRedisTemplate template, String key, String list, Held held,
			int fault) {
		OperationContext context = FencedRedis.operation(held);
		try (OperationContext.Scope scope = context.open()) {
			long value = Long.parseLong(template.opsForValue().get(key));
			LockSupport.parkNanos(fault * 20_000L);
			driver.write(template, key, Long.toString(value + 1), list);
			return false;
		}
		catch (FencingException ex) {
			return true;
		}
	}

	/** The drivers that have another way by the fence than Lettuce. */
	enum Driver {

		JEDIS, REDISSON;

		private static final RedisScript<Long> WRITE = RedisScript
			.of("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('RPUSH', KEYS[2], ARGV[1])", Long.class);

		void write(StringRedisTemplate template, String key, String value, String list) {
			if (this == REDISSON) {
				template.execute(WRITE, List.of(key, list), value);
			}
			else {
				template.execute(new Written(key, value, list));
			}
		}

		RedisConnectionFactory create(String url) {
			return switch (this) {
				case JEDIS -> JedisFenceTests.newFactory(url, true, 0);
				case REDISSON -> RedissonFactoryFenceTests.newFactory(url, 0);
			};
		}

	}

}
