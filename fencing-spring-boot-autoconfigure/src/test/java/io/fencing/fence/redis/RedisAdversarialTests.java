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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers that all believe to hold the lease read a counter, pause and write it back plus
 * one, while the guard is deleted at random: no write that was acknowledged is ever
 * written over by one that did not see it.
 */
@Tag("faults")
class RedisAdversarialTests {

	private static final int WORKERS = 8;

	@Test
	void rules1To4WhenHoldersOverlapAndGuardsAreDeletedThenNoUpdateIsLost() throws Exception {
		try (FencedRedis redis = new FencedRedis()) {
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
						if (add(redis, key, list, held, fault)) {
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
		}
	}

	// whether it was refused
	private static boolean add(FencedRedis redis, String key, String list, Held held, int fault) {
		OperationContext context = FencedRedis.operation(held);
		try (OperationContext.Scope scope = context.open()) {
			long value = Long.parseLong(redis.template().opsForValue().get(key));
			LockSupport.parkNanos(fault * 20_000L);
			redis.template().execute(new Written(key, Long.toString(value + 1), list));
			return false;
		}
		catch (FencingException ex) {
			return true;
		}
	}

}
