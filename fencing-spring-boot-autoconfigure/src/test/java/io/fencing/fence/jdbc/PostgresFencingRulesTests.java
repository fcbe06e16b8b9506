package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

/**
 * The rules on PostgreSQL.
 */
class PostgresFencingRulesTests extends FencingRulesTests {

	private static final DataSource DATA_SOURCE = TestServers.newPostgres();

	@Override
	DataSource newDataSource() {
		return DATA_SOURCE;
	}

}
