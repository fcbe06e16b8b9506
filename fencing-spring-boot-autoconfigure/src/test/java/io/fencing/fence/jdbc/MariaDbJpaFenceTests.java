package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;

/**
 * Persistence contexts on MariaDB.
 */
class MariaDbJpaFenceTests extends JpaFenceTests {

	private static DataSource dataSource;

	@BeforeAll
	static void createDatabase() {
		dataSource = InnoDbJdbcFenceTests.readCommitted(TestServers.newMariaDbUrl());
	}

	@Override
	DataSource newDataSource() {
		return dataSource;
	}

}
