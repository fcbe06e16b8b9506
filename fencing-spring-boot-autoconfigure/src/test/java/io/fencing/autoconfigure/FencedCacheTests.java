package io.fencing.autoconfigure;

import io.fencing.FencingException;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCache;
import org.springframework.data.redis.cache.RedisCacheManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Caching by annotations inside of operations. The cache writes asynchronously: a refusal
 * is counted, and ends the operation if it comes in time.
 */
class FencedCacheTests extends RedisApplicationTests {

	private void overtaken(AssertableApplicationContext context, Write write) throws Exception {
		events(context).clear();
		try {
			call(context, () -> {
				template(context).hasKey(this.key);
				takeOver(context);
				write.run();
				return true;
			});
		}
		catch (FencingException ex) {
			// it came in time
		}
		await().untilAsserted(
				() -> assertThat(events(context)).containsAnyOf("rejected redis STALE", "rejected redis LOST"));
	}

	// case 86
	@Test
	void case86WhenAnnotatedThenStaleWorkersChangeNoEntry() {
		this.runner.withUserConfiguration(Caching.class).run((context) -> {
			assertThat(context.getBean(CacheManager.class)).isExactlyInstanceOf(RedisCacheManager.class);
			Cache cache = context.getBean(CacheManager.class).getCache("balances");
			assertThat(cache).isInstanceOf(RedisCache.class);
			Balances balances = context.getBean(Balances.class);
			call(context, () -> balances.put(this.key, "10"));
			await().untilAsserted(() -> assertThat(cache.get(this.key, String.class)).isEqualTo("10"));
			assertThat(template(context).hasKey(guard(context))).isTrue();
			assertThat(call(context, () -> balances.get(this.key))).isEqualTo("10");
			overtaken(context, () -> balances.put(this.key, "stale"));
			assertThat(cache.get(this.key, String.class)).isEqualTo("10");
			overtaken(context, () -> balances.evict(this.key));
			assertThat(cache.get(this.key, String.class)).isEqualTo("10");
			overtaken(context, balances::evictAll);
			assertThat(cache.get(this.key, String.class)).isEqualTo("10");
			call(context, () -> {
				balances.evict(this.key);
				return true;
			});
			await().untilAsserted(() -> assertThat(cache.get(this.key)).isNull());
			// a miss computes and stores
			assertThat(call(context, () -> balances.get(this.key))).isEqualTo("computed");
			await().untilAsserted(() -> assertThat(cache.get(this.key, String.class)).isEqualTo("computed"));
			cache.evict(this.key);
		});
	}

	/** What is cached. */
	static class Balances {

		@Cacheable("balances")
		String get(String key) {
			return "computed";
		}

		@CachePut(cacheNames = "balances", key = "#key")
		String put(String key, String balance) {
			return balance;
		}

		@CacheEvict("balances")
		void evict(String key) {
		}

		@CacheEvict(cacheNames = "balances", allEntries = true)
		void evictAll() {
		}

	}

	/** Caching switched on. */
	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

		@Bean
		Balances balances() {
			return new Balances();
		}

	}

}
