package io.fencing.sample.servers;

import java.util.Map;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Servers are started only where none are given, and end with the context.
 */
class OwnServersTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(OwnServersConfiguration.class, OnOwnServers.class);

	@Test
	void whenNothingIsGivenThenServersRunUntilContextCloses() {
		ProcessHandle[] postgres = new ProcessHandle[1];
		RedisServer[] redis = new RedisServer[1];
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(DataRedisConnectionDetails.class)
				.hasSingleBean(JdbcConnectionDetails.class)
				.hasBean("onOwnServers");
			redis[0] = context.getBean(RedisServer.class);
			assertThat(redis[0].isActive()).isTrue();
			postgres[0] = postmaster(context.getBean(EmbeddedPostgres.class));
			assertThat(postgres[0].isAlive()).isTrue();
		});
		assertThat(redis[0].isActive()).isFalse();
		await().until(() -> !postgres[0].isAlive());
	}

	@Test
	void whenBothAreGivenThenNoneIsStarted() {
		this.runner.withPropertyValues("spring.data.redis.port=1", "spring.datasource.url=jdbc:postgresql://nowhere/x")
			.run((context) -> assertThat(context).doesNotHaveBean(RedisServer.class)
				.doesNotHaveBean(EmbeddedPostgres.class)
				.doesNotHaveBean("onOwnServers"));
	}

	@Test
	void whenOneIsGivenByEnvironmentVariableThenOnlyTheOtherIsStarted() {
		Map<String, Object> variables = Map.of("SPRING_DATASOURCE_URL", "jdbc:postgresql://nowhere/x");
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", variables)))
			.run((context) -> assertThat(context).hasSingleBean(RedisServer.class)
				.doesNotHaveBean(EmbeddedPostgres.class)
				.doesNotHaveBean("onOwnServers"));
	}

	private static ProcessHandle postmaster(EmbeddedPostgres server) throws Exception {
		try (var connection = server.getPostgresDatabase().getConnection();
				var statement = connection.createStatement();
				var pid = statement.executeQuery("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")) {
			pid.next();
			return ProcessHandle.of(pid.getLong(1)).orElseThrow();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnOwnServers
	static class OnOwnServers {

		@Bean
		String onOwnServers() {
			return "yes";
		}

	}

}
