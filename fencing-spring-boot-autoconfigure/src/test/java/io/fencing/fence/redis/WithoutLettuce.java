package io.fencing.fence.redis;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * An older holder and a newer one on Jedis, with nothing else that could talk to Redis:
 * run by a class loader that has no Lettuce.
 */
public final class WithoutLettuce implements Callable<String> {

	private final String url;

	private final String key;

	/**
	 * Create a run.
	 */
	public WithoutLettuce(String url, String key) {
		this.url = url;
		this.key = key;
	}

	@Override
	public String call() {
		URI uri = URI.create(this.url);
		RedisFencePostProcessor postProcessor = new RedisFencePostProcessor((name) -> true,
				(name) -> new RedisFence("redis",
						new RedisFenceSettings("fencing", Duration.ofDays(7), UnfencedWrites.WARN),
						new FencingListeners(List.of())));
		JedisConnectionFactory original = new JedisConnectionFactory(
				new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
		postProcessor.postProcessBeforeInitialization(original, "jedis");
		original.afterPropertiesSet();
		original.start();
		StringRedisTemplate template = new StringRedisTemplate(
				(JedisConnectionFactory) postProcessor.postProcessAfterInitialization(original, "jedis"));
		long token = System.currentTimeMillis() * 1000;
		try (OperationContext.Scope scope = new OperationContext("older", List.of(held(token)), null).open()) {
			template.opsForValue().set(this.key, "older");
			try (OperationContext.Scope other = new OperationContext("newer", List.of(held(token + 1)), null).open()) {
				template.opsForValue().set(this.key, "newer");
			}
			template.opsForValue().set(this.key, "late");
		}
		catch (StaleTokenException ex) {
			return template.opsForValue().get(this.key) + " " + ex.getReason();
		}
		finally {
			template.delete(this.key);
			original.destroy();
		}
		return "not refused";
	}

	private HeldResource held(long token) {
		FencedResource resource = new FencedResourceFactory("default", "secret").create(this.key);
		return new HeldResource() {

			@Override
			public FencedResource getResource() {
				return resource;
			}

			@Override
			public FencingToken getToken() {
				return new FencingToken(token, "owner-" + token);
			}

			@Override
			public boolean isLost() {
				return false;
			}

			@Override
			public LossReason getLossReason() {
				return LossReason.NONE;
			}

			@Override
			public Duration getRemaining() {
				return Duration.ofSeconds(30);
			}

		};
	}

}
