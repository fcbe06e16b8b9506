package io.fencing.testing;

import java.sql.Connection;

import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

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
	void redisAnswers() {
		Config config = new Config();
		config.useSingleServer().setAddress(TestServers.redisUrl());
		RedissonClient client = Redisson.create(config);
		try {
			assertThat(client.getKeys().count()).isNotNegative();
		}
		finally {
			client.shutdown();
		}
	}

}
