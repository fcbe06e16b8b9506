package io.fencing.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.support.atomic.RedisAtomicLong;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The Redis fence in an ordinary application.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedRedisTests {

	private final String key = "app:" + UUID.randomUUID();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				DataRedisReactiveAutoConfiguration.class, CacheAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingRedisAutoConfiguration.class,
				FencingAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.data.redis.url=" + TestServers.redisUrl(), "spring.cache.type=redis",
				"spring.data.redis.lettuce.pool.enabled=false");

	private static <T> T call(ApplicationContext context, String resource, FencedOperations.FencedBody<T, ?> body) {
		try {
			return context.getBean(FencedOperations.class).call(FencedOperationRequest.of("work", resource), body);
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String guard(ApplicationContext context) {
		return "fencing:1:{" + resource(context).getKey() + "}:guard";
	}

	private FencedResource resource(ApplicationContext context) {
		return context.getBean(FencedResourceFactory.class).create(this.key);
	}

	// as if a newer holder had worked
	private void takeOver(ApplicationContext context) {
		long newer = FencingContext.required().getToken().value() + 1;
		RedisOutside.set(guard(context), newer + ":newer");
		RedisOutside.delete("fencing:1:{" + resource(context).getKey() + "}:lease");
	}

	private static StringRedisTemplate template(ApplicationContext context) {
		return context.getBean(StringRedisTemplate.class);
	}

	private static List<String> events(ApplicationContext context) {
		return context.getBean(Recorder.class).events;
	}

	@Test
	void case38WhenFactoryIsFencedThenBeansKeepTheirTypesAndNothingIsCreatedTooEarly(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(LettuceConnectionFactory.class))
				.isSameAs(context.getBean(RedisConnectionFactory.class))
				.isSameAs(context.getBean(ReactiveRedisConnectionFactory.class));
			assertThat(context.getBean(CacheManager.class)).isExactlyInstanceOf(RedisCacheManager.class);
			assertThat(context.getBean(LettuceConnectionFactory.class).isRunning()).isTrue();
		});
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	@Test
	void whenOperationWritesThenGuardLiesNextToTheData() {
		this.runner.run((context) -> {
			String token = call(context, this.key, () -> {
				template(context).opsForValue().set(this.key, "1");
				FencingContext current = FencingContext.required();
				return current.getToken().value() + ":" + current.getToken().owner();
			});
			assertThat(template(context).opsForValue().get(guard(context))).isEqualTo(token);
			assertThat(events(context)).containsExactly("admitted redis");
		});
	}

	@Test
	void whenTakenOverThenTheCallEndsStaleWhateverTheBodyCaught() {
		this.runner.run((context) -> {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context, this.key, () -> {
				template(context).opsForValue().get(this.key);
				takeOver(context);
				try {
					template(context).opsForValue().set(this.key, "stale");
				}
				catch (StaleTokenException ex) {
					return "swallowed";
				}
				return "written";
			}));
			assertThat(template(context).hasKey(this.key)).isFalse();
			assertThat(events(context)).contains("rejected redis STALE");
		});
	}

	// rule 6: a higher guard while the lease is ours
	@Test
	void rule6WhenGuardIsHigherWhileLeaseIsOursThenRegressionAndNextAttemptSucceeds() {
		this.runner.run((context) -> {
			long tomorrow = (System.currentTimeMillis() + Duration.ofDays(1).toMillis()) * 1000;
			RedisOutside.set(guard(context), tomorrow + ":lost");
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> call(context, this.key, () -> template(context).opsForValue().get(this.key)))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REGRESSION));
			long token = call(context, this.key, () -> {
				template(context).opsForValue().set(this.key, "1");
				return FencingContext.required().getToken().value();
			});
			assertThat(token).isGreaterThan(tomorrow);
			assertThat(events(context)).contains("regression redis");
		});
	}

	// case 80
	@Test
	void case80WhenTransactionBoundTemplateIsStaleThenTheCallEndsStaleAndNothingIsWritten() {
		this.runner
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:redis;DB_CLOSE_DELAY=-1")
			.run((context) -> {
				StringRedisTemplate bound = new StringRedisTemplate(context.getBean(RedisConnectionFactory.class));
				bound.setEnableTransactionSupport(true);
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				assertThatExceptionOfType(StaleTokenException.class)
					.isThrownBy(() -> call(context, this.key, () -> transaction.execute((status) -> {
						bound.opsForValue().get(this.key);
						bound.opsForValue().set(this.key, "stale");
						takeOver(context);
						return true;
					})));
				assertThat(template(context).hasKey(this.key)).isFalse();
				assertThat(events(context)).contains("rejected redis STALE");
				call(context, this.key, () -> transaction.execute((status) -> {
					bound.opsForValue().set(this.key, "fresh");
					return true;
				}));
				assertThat(template(context).opsForValue().get(this.key)).isEqualTo("fresh");
			});
	}

	// case 86
	@Test
	void case86WhenCacheWritesLateThenItChangesNothingAndIsCounted() {
		this.runner.run((context) -> {
			Cache cache = context.getBean(CacheManager.class).getCache("accounts");
			call(context, this.key, () -> {
				cache.put(this.key, "first");
				return true;
			});
			await().untilAsserted(() -> assertThat(cache.get(this.key, String.class)).isEqualTo("first"));
			assertThat(template(context).hasKey(guard(context))).isTrue();
			try {
				call(context, this.key, () -> {
					assertThat(cache.get(this.key, String.class)).isEqualTo("first");
					takeOver(context);
					cache.put(this.key, "late");
					cache.evict(this.key);
					return true;
				});
			}
			catch (StaleTokenException ex) {
				// the answer came in time
			}
			await().untilAsserted(() -> assertThat(events(context)).contains("rejected redis STALE"));
			assertThat(cache.get(this.key, String.class)).isEqualTo("first");
			cache.clear();
		});
	}

	// case 86: a cache is cleared by a scan on the driver's threads
	@Test
	void case86WhenCacheIsClearedThenEveryDeletionGoesByTheFence() {
		this.runner.run((context) -> {
			Cache cache = context.getBean(CacheManager.class).getCache("cleared" + UUID.randomUUID());
			IntStream.range(0, 20).forEach((i) -> cache.put("k" + i, "v"));
			await().untilAsserted(() -> assertThat(cache.get("k19", String.class)).isEqualTo("v"));
			try {
				call(context, this.key, () -> {
					template(context).opsForValue().get(this.key);
					takeOver(context);
					cache.clear();
					return true;
				});
			}
			catch (StaleTokenException ex) {
				// the answer came in time
			}
			await().untilAsserted(
					() -> assertThat(events(context)).containsAnyOf("rejected redis STALE", "rejected redis LOST"));
			assertThat(cache.get("k0", String.class)).isEqualTo("v");
			call(context, this.key, () -> {
				cache.clear();
				return true;
			});
			await().untilAsserted(() -> assertThat(cache.get("k0", String.class)).isNull());
		});
	}

	@Test
	void case86WhenReactiveTemplateBlocksThenFencedTheSame() {
		this.runner.run((context) -> {
			ReactiveStringRedisTemplate reactive = context.getBean(ReactiveStringRedisTemplate.class);
			call(context, this.key, () -> reactive.opsForValue().set(this.key, "1").block());
			assertThat(template(context).hasKey(guard(context))).isTrue();
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context, this.key, () -> {
				assertThat(reactive.opsForValue().get(this.key).block()).isEqualTo("1");
				takeOver(context);
				return reactive.opsForValue().set(this.key, "2").block();
			}));
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("1");
		});
	}

	@Test
	void case86WhenReactiveConnectionIsNotSharedThenFencedTheSame() {
		this.runner.run((context) -> {
			context.getBean(LettuceConnectionFactory.class).setShareNativeConnection(false);
			ReactiveStringRedisTemplate reactive = context.getBean(ReactiveStringRedisTemplate.class);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context, this.key, () -> {
				reactive.opsForValue().set(this.key, "1").block();
				takeOver(context);
				return reactive.opsForValue().set(this.key, "2").block();
			}));
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("1");
		});
	}

	@Test
	void whenAtomicLongCountsInOperationsThenNoUpdateIsLost() {
		this.runner.run((context) -> {
			RedisAtomicLong counter = new RedisAtomicLong(this.key, context.getBean(RedisConnectionFactory.class));
			IntStream.range(0, 100).parallel().forEach((i) -> call(context, this.key, () -> {
				counter.set(counter.get() + 1);
				return true;
			}));
			assertThat(counter.get()).isEqualTo(100);
		});
	}

	@Test
	void whenFactoryIsLeftOutThenItGoesByNoFence() {
		this.runner.withPropertyValues("fencing.redis.factories=").run((context) -> {
			assertThat(context.getBean(RedisConnectionFactory.class))
				.isExactlyInstanceOf(LettuceConnectionFactory.class);
			call(context, this.key, () -> {
				template(context).opsForValue().set(this.key, "1");
				return true;
			});
			assertThat(template(context).hasKey(guard(context))).isFalse();
		});
	}

	// case 31
	@Test
	void case31WhenFactoryIsUnknownThenStartFailsNamingTheBeans() {
		this.runner.withPropertyValues("fencing.redis.factories=other")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("'other'")
				.hasMessageContaining("redisConnectionFactory"));
	}

	@Test
	void whenStrictThenWritesOutsideAreRefusedAndReadsPass() {
		this.runner.withPropertyValues("fencing.unfenced-writes=reject").run((context) -> {
			assertThat(template(context).opsForValue().get(this.key)).isNull();
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> template(context).opsForValue().set(this.key, "1"));
			assertThat(events(context)).contains("unfenced redis");
		});
	}

	@Test
	void whenContextClosesThenFencedFactoryIsStopped() {
		LettuceConnectionFactory[] factory = new LettuceConnectionFactory[1];
		this.runner.run((context) -> factory[0] = context.getBean(LettuceConnectionFactory.class));
		assertThat(factory[0].isRunning()).isFalse();
	}

	@Test
	void whenOnlyObservedThenEverythingPasses() {
		this.runner.withPropertyValues("fencing.mode=observe").run((AssertableApplicationContext context) -> {
			call(context, this.key, () -> {
				template(context).opsForValue().set(this.key, "1");
				return true;
			});
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("1");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Application {

		@Bean
		Recorder recorder() {
			return new Recorder();
		}

	}

	static class Recorder implements FencingListener {

		private final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void onAdmitted(String operation, String storage, Duration took) {
			this.events.add("admitted " + storage);
		}

		@Override
		public void onRejected(String operation, String storage, RejectionReason reason) {
			this.events.add("rejected " + storage + " " + reason);
		}

		@Override
		public void onRegression(String operation, String storage, long issued, long accepted) {
			this.events.add("regression " + storage);
		}

		@Override
		public void onUnfenced(String operation, String storage) {
			this.events.add("unfenced " + storage);
		}

	}

	/**
	 * A person at a console.
	 */
	private static final class RedisOutside {

		private static final RedisConsole CONSOLE = new RedisConsole(URI.create(TestServers.redisUrl()).getPort());

		static void set(String key, String value) {
			CONSOLE.send("SET " + key + " " + value);
		}

		static void delete(String key) {
			CONSOLE.send("DEL " + key);
		}

	}

}
