package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

/**
 * JPA on Postgres.
 */
class PostgresJpaFenceTests extends JpaFenceTests {

	private static final DataSource DATA_SOURCE = TestServers.newPostgres();

	@Override
	DataSource newDataSource() {
		return DATA_SOURCE;
	}

}
