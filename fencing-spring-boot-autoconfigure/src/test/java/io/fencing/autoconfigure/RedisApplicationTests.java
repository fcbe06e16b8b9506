package io.fencing.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import io.fencing.FencedOperation;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingException;
import io.fencing.FencingListener;
import io.fencing.LeaseLostException;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * An ordinary application on Redis, and a newer holder that overtakes its operations.
 * Whatever it writes starts with {@link #prefix}.
 */
abstract class RedisApplicationTests {

	final String prefix = "app:" + UUID.randomUUID() + ":";

	final String key = this.prefix + "key";

	final String resource = "resource-" + UUID.randomUUID();

	final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, AopAutoConfiguration.class,
				DataRedisAutoConfiguration.class, DataRedisReactiveAutoConfiguration.class,
				CacheAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
				FencingRedisAutoConfiguration.class, FencingAutoConfiguration.class, FencingAopAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.data.redis.url=" + TestServers.redisUrl(), "spring.cache.type=redis",
				"spring.data.redis.lettuce.pool.enabled=false");

	static StringRedisTemplate template(ApplicationContext context) {
		return context.getBean(StringRedisTemplate.class);
	}

	static List<String> events(ApplicationContext context) {
		return context.getBean(Recorder.class).events;
	}

	<T> T call(ApplicationContext context, Callable<T> body) throws Exception {
		return context.getBean(Work.class).on(this.resource, body);
	}

	String guard(ApplicationContext context) {
		return "fencing:1:{" + context.getBean(FencedResourceFactory.class).create(this.resource).getKey() + "}:guard";
	}

	// as if a newer holder had worked
	void takeOver(ApplicationContext context) {
		long newer = FencingContext.required().getToken().value() + 1;
		console().send("SET " + guard(context) + " " + newer + ":newer");
		console().send("DEL " + guard(context).replace(":guard", ":lease"));
	}

	static RedisConsole console() {
		return new RedisConsole(URI.create(TestServers.redisUrl()).getPort());
	}

	/**
	 * Everything that the application has stored, by key.
	 */
	Map<String, String> stored() {
		return stored(this.prefix);
	}

	static Map<String, String> stored(String prefix) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1",
				URI.create(TestServers.redisUrl()).getPort());
		LettuceConnectionFactory plain = new LettuceConnectionFactory(server);
		plain.start();
		try {
			StringRedisTemplate template = new StringRedisTemplate(plain);
			Set<String> keys = template.keys(prefix + "*");
			Map<String, String> stored = new TreeMap<>();
			keys.forEach((one) -> stored.put(one, Base64.getEncoder().encodeToString(template.dump(one))));
			return stored;
		}
		finally {
			plain.destroy();
		}
	}

	/**
	 * A stale worker changes nothing and is told so; one that is not stale does change
	 * something.
	 * @param context the application
	 * @param write what both do
	 */
	void assertFenced(ApplicationContext context, Write write) throws Exception {
		Map<String, String> before = stored();
		Throwable refusal = catchThrowable(() -> call(context, () -> {
			template(context).hasKey(this.key);
			takeOver(context);
			write.run();
			return "written";
		}));
		assertThat(refusal).isInstanceOf(FencingException.class)
			.isInstanceOfAny(StaleTokenException.class, LeaseLostException.class);
		assertThat(stored()).isEqualTo(before);
		String token = call(context, () -> {
			write.run();
			FencingContext current = FencingContext.required();
			return current.getToken().value() + ":" + current.getToken().owner();
		});
		assertThat(template(context).opsForValue().get(guard(context))).isEqualTo(token);
		assertThat(stored()).isNotEqualTo(before);
	}

	/** Something that an application does to Redis. */
	@FunctionalInterface
	interface Write {

		void run() throws Exception;

	}

	/** The fenced operation of the application. */
	static class Work {

		@FencedOperation(resource = "#{#resource}", name = "work")
		<T> T on(String resource, Callable<T> body) throws Exception {
			return body.call();
		}

	}

	/** Writes down what happens. */
	static class Recorder implements FencingListener {

		final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void onAdmitted(String operation, String storage, Duration took) {
			this.events.add("admitted " + storage);
		}

		@Override
		public void onRejected(String operation, String storage, RejectionReason reason) {
			this.events.add("rejected " + storage + " " + reason);
		}

		@Override
		public void onUnfenced(String operation, String storage) {
			this.events.add("unfenced " + storage);
		}

		@Override
		public void onObserved(String operation, String storage, Observation observation) {
			this.events.add("observed " + storage + " " + observation);
		}

	}

	/** What all of these applications have. */
	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Work work() {
			return new Work();
		}

		@Bean
		Recorder recorder() {
			return new Recorder();
		}

	}

}
