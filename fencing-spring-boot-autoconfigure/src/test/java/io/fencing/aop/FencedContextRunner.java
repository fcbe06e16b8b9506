package io.fencing.aop;

import java.net.URI;
import java.util.UUID;

import io.fencing.FencedResourceFactory;
import io.fencing.autoconfigure.FencingAopAutoConfiguration;
import io.fencing.autoconfigure.FencingAutoConfiguration;
import io.fencing.autoconfigure.FencingCoordinatorAutoConfiguration;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/**
 * Small applications with the auto-configurations of Spring Boot and of this starter, and
 * leases on a real Redis.
 */
final class FencedContextRunner {

	private FencedContextRunner() {
	}

	/**
	 * A runner of applications in a namespace of their own.
	 */
	static ApplicationContextRunner create() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
					TaskSchedulingAutoConfiguration.class, DataRedisAutoConfiguration.class,
					FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class,
					FencingAopAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.url=" + TestServers.redisUrl(),
					"fencing.namespace=" + UUID.randomUUID(), "fencing.coordinator.timeout=20s");
	}

	/**
	 * Whether anybody has the lease of a resource.
	 */
	static boolean isLeased(ApplicationContext context, String resource) {
		return console().send("EXISTS " + leaseKey(context, resource)).equals("1");
	}

	/**
	 * The key of the lease of a resource.
	 */
	static String leaseKey(ApplicationContext context, String resource) {
		return "fencing:1:{" + context.getBean(FencedResourceFactory.class).create(resource).getKey() + "}:lease";
	}

	/**
	 * A console of the Redis that has the leases.
	 */
	static RedisConsole console() {
		return new RedisConsole(URI.create(TestServers.redisUrl()).getPort());
	}

}
