package io.fencing.autoconfigure;

import java.util.Map;
import java.util.UUID;

import io.fencing.FencedResourceFactory;

import org.springframework.beans.BeanUtils;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/**
 * Runs an application whose context was prepared ahead of time, in a class loader of its
 * own.
 */
public final class PreparedRun {

	private PreparedRun() {
	}

	static Map<String, String> properties(String redisUrl) {
		return Map.of("spring.data.redis.url", redisUrl, "spring.datasource.url", "jdbc:h2:mem:prepared");
	}

	/**
	 * Run it.
	 * @param initializer the class that was generated
	 * @param redisUrl the server
	 * @return how many guards an operation has left in Redis and in the database
	 * @throws Exception if it failed
	 */
	@SuppressWarnings("unchecked")
	public static String run(String initializer, String redisUrl) throws Exception {
		System.setProperty("spring.aot.enabled", "true");
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			TestPropertyValues.of(properties(redisUrl)).applyTo(context);
			((ApplicationContextInitializer<GenericApplicationContext>) BeanUtils
				.instantiateClass(ClassUtils.forName(initializer, null))).initialize(context);
			context.refresh();
			String resource = "resource-" + UUID.randomUUID();
			StringRedisTemplate template = context.getBean(StringRedisTemplate.class);
			String guard = "fencing:1:{" + context.getBean(FencedResourceFactory.class).create(resource).getKey()
					+ "}:guard";
			context.getBean(RedisApplicationTests.Work.class)
				.on(resource, () -> template.opsForValue().increment("app:" + resource));
			Long rows = context.getBean(JdbcTemplate.class)
				.queryForObject("SELECT count(*) FROM fencing_fence", Long.class);
			return (template.hasKey(guard) ? 1 : 0) + rows + " guards";
		}
		finally {
			System.clearProperty("spring.aot.enabled");
		}
	}

}
