package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The Redis fence where operations are only observed, or not at all.
 */
class ObservedRedisTests extends RedisApplicationTests {

	private final ApplicationContextRunner observed = this.runner.withPropertyValues("fencing.mode=observe",
			"fencing.operations.warm-up.mode=enforce", "fencing.operations.warm-up.programmatic=true");

	// the coordinator connects at the first call, which takes longer than an observer
	// waits
	private void run(ContextConsumer<AssertableApplicationContext> test) {
		this.observed.run((context) -> {
			context.getBean(FencedOperations.class)
				.call(FencedOperationRequest.of("warm-up", this.prefix), () -> template(context).hasKey(this.key));
			events(context).clear();
			test.accept(context);
		});
	}

	private void awaitEvents(ApplicationContext context, String... expected) {
		await().untilAsserted(() -> assertThat(events(context)).containsExactly(expected));
	}

	@Test
	void whenAdmittedThenCountedOnceForEachOperation() {
		run((context) -> {
			call(context, () -> {
				template(context).opsForValue().set(this.key, "1");
				return template(context).opsForValue().increment(this.key);
			});
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("2");
			awaitEvents(context, "admitted redis", "observed redis ADMITTED");
			assertThat(template(context).hasKey(guard(context))).isTrue();
		});
	}

	@Test
	void whenFenceIsNewerThenCountedAndTheWritePasses() {
		run((context) -> {
			console().send("SET " + guard(context) + " 9000000000000000:newer");
			call(context, () -> {
				template(context).opsForValue().set(this.key, "1");
				return true;
			});
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("1");
			awaitEvents(context, "observed redis REFUSED");
			assertThat(template(context).opsForValue().get(guard(context))).startsWith("9000000000000000:");
		});
	}

	@Test
	void whenCommandCannotBeFencedThenCountedAndItPasses() {
		run((context) -> {
			template(context).opsForList().rightPush(this.key, "1");
			String popped = call(context,
					() -> template(context).opsForList().leftPop(this.key, Duration.ofSeconds(1)));
			assertThat(popped).isEqualTo("1");
			awaitEvents(context, "observed redis REFUSED");
		});
	}

	@Test
	void whenResourceIsBusyThenNothingIsClaimed() {
		run((context) -> call(context, () -> {
			Thread other = new Thread(() -> {
				try {
					call(context, () -> template(context).opsForValue().increment(this.key));
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			});
			other.start();
			other.join();
			assertThat(template(context).hasKey(this.key)).isTrue();
			// the first one's own command claims
			awaitEvents(context, "observed coordinator REFUSED", "admitted redis", "observed redis ADMITTED");
			return true;
		}));
	}

	@Test
	void whenCallerHasTransactionThenObservedOutsideOfIt() {
		run((context) -> {
			List<Object> results = call(context, () -> template(context).execute(new SessionCallback<List<Object>>() {

				@Override
				@SuppressWarnings("unchecked")
				public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
					operations.multi();
					operations.opsForValue().increment((K) ObservedRedisTests.this.key);
					operations.opsForValue().increment((K) ObservedRedisTests.this.key);
					return operations.exec();
				}

			}));
			assertThat(results).containsExactly(1L, 2L);
			awaitEvents(context, "admitted redis", "observed redis ADMITTED");
		});
	}

	@Test
	void whenFenceCannotBeAskedThenUnknownAndNobodyFails() {
		run((context) -> {
			// a guard that is no string
			console().send("RPUSH " + guard(context) + " x");
			call(context, () -> template(context).opsForValue().increment(this.key));
			awaitEvents(context, "observed redis UNKNOWN");
		});
	}

	@Test
	void whenOffThenNothingIsAskedFor() {
		this.runner.withPropertyValues("fencing.mode=off", "fencing.unfenced-writes=reject").run((context) -> {
			call(context, () -> template(context).opsForValue().increment(this.key));
			template(context).opsForValue().increment(this.key);
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("2");
			assertThat(template(context).hasKey(guard(context))).isFalse();
			assertThat(events(context)).isEmpty();
		});
	}

}
