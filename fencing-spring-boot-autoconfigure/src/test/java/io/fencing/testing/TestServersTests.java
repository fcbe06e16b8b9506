package io.fencing.testing;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.util.Properties;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The servers that other tests rely on really run.
 */
class TestServersTests {

	@Test
	void postgresAnswers() throws Exception {
		try (Connection connection = TestServers.newPostgres().getConnection()) {
			assertThat(connection.getMetaData().getDatabaseProductName()).isEqualTo("PostgreSQL");
		}
	}

	@Test
	void mariaDbAnswers() throws Exception {
		try (Connection connection = TestServers.newMariaDb().getConnection()) {
			assertThat(connection.getMetaData().getDatabaseProductName()).isEqualTo("MariaDB");
		}
	}

	@Test
	void mySqlAnswers() throws Exception {
		try (Connection connection = TestServers.newMySql().getConnection()) {
			assertThat(connection.getMetaData().getDatabaseProductVersion()).startsWith("8.");
		}
	}

	@Test
	void redisAnswers() {
		assertThat(versionOf(TestServers.redisUrl())).startsWith("6.2");
	}

	@Test
	void redis7Answers() {
		assertThat(versionOf(TestServers.redis7Url())).startsWith("7.");
	}

	@Test
	void portsAreNewAndNoneThatSystemsGiveToClients() {
		assertThat(Stream.generate(TestServers::freePort).limit(50)).doesNotHaveDuplicates()
			.allMatch((port) -> TestServers.busPort(port) < 32_768);
	}

	private static String versionOf(String url) {
		RedisClient client = RedisClient.create(url);
		try (StatefulRedisConnection<String, String> connection = client.connect()) {
			Properties info = new Properties();
			info.load(new StringReader(connection.sync().info("server")));
			return info.getProperty("redis_version");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			client.shutdown();
		}
	}

}
