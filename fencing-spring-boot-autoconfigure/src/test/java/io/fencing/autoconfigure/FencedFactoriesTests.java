package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.URI;

import io.fencing.StaleTokenException;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Several connection factories in one application: each has its guards next to its data.
 */
class FencedFactoriesTests extends RedisApplicationTests {

	private static final int OTHER_PORT = TestServers.freePort();

	private static final int OTHER_DATABASE = 5;

	private static RedisServer other;

	private final ApplicationContextRunner several = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
				FencingRedisAutoConfiguration.class, FencingAutoConfiguration.class, FencingAopAutoConfiguration.class))
		.withUserConfiguration(Application.class, Factories.class)
		.withPropertyValues("fencing.coordinator.url=" + TestServers.redisUrl());

	@BeforeAll
	static void startOther() throws IOException {
		other = TestServers.newRedis(OTHER_PORT);
		other.start();
	}

	@AfterAll
	static void stopOther() throws IOException {
		other.stop();
	}

	private static StringRedisTemplate on(ApplicationContext context, String factory) {
		return new StringRedisTemplate(context.getBean(factory, RedisConnectionFactory.class));
	}

	@Test
	void whenThereAreSeveralThenGuardsLieNextToTheData() {
		this.several.run((context) -> {
			call(context, () -> {
				on(context, "first").opsForValue().set(this.key, "1");
				on(context, "database").opsForValue().set(this.key, "2");
				on(context, "server").opsForValue().set(this.key, "3");
				return true;
			});
			for (String factory : new String[] { "first", "database", "server" }) {
				assertThat(on(context, factory).hasKey(guard(context))).as(factory).isTrue();
			}
			assertThat(events(context)).containsExactly("admitted first", "admitted database", "admitted server");
		});
	}

	@Test
	void whenOneIsOvertakenThenOnlyItsOwnDataIsRefused() {
		this.several.run((context) -> {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context, () -> {
				on(context, "database").opsForValue().set(this.key, "1");
				on(context, "server").opsForValue().set(this.key, "1");
				new RedisConsole(OTHER_PORT).send("SET " + guard(context) + " 9000000000000000:newer");
				on(context, "database").opsForValue().set(this.key, "2");
				on(context, "server").opsForValue().set(this.key, "2");
				return true;
			}));
			assertThat(on(context, "database").opsForValue().get(this.key)).isEqualTo("2");
			assertThat(on(context, "server").opsForValue().get(this.key)).isEqualTo("1");
			assertThat(events(context)).contains("rejected server STALE");
		});
	}

	@Test
	void whenOneIsLeftOutThenItAloneGoesByNoFence() {
		this.several.withPropertyValues("fencing.redis.factories=first,database").run((context) -> {
			assertThat(context.getBean("server")).isExactlyInstanceOf(LettuceConnectionFactory.class);
			call(context, () -> {
				on(context, "database").opsForValue().set(this.key, "1");
				on(context, "server").opsForValue().set(this.key, "1");
				return true;
			});
			assertThat(on(context, "database").hasKey(guard(context))).isTrue();
			assertThat(on(context, "server").hasKey(guard(context))).isFalse();
			assertThat(on(context, "server").opsForValue().get(this.key)).isEqualTo("1");
		});
	}

	/** On two servers, and in two databases. */
	@Configuration(proxyBeanMethods = false)
	static class Factories {

		@Bean
		LettuceConnectionFactory first() {
			return factory(URI.create(TestServers.redisUrl()).getPort(), 0);
		}

		@Bean
		LettuceConnectionFactory database() {
			return factory(URI.create(TestServers.redisUrl()).getPort(), OTHER_DATABASE);
		}

		@Bean
		LettuceConnectionFactory server() {
			return factory(OTHER_PORT, 0);
		}

		private static LettuceConnectionFactory factory(int port, int database) {
			RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", port);
			server.setDatabase(database);
			return new LettuceConnectionFactory(server);
		}

	}

}
