package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;

/**
 * Persistence contexts on MySQL.
 */
class MySqlJpaFenceTests extends JpaFenceTests {

	private static DataSource dataSource;

	@BeforeAll
	static void createDatabase() {
		dataSource = InnoDbJdbcFenceTests.readCommitted(TestServers.newMySqlUrl());
	}

	@Override
	DataSource newDataSource() {
		return dataSource;
	}

}
