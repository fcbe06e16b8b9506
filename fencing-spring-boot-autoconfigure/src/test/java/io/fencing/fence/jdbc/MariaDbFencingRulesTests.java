package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;

/**
 * The rules on MariaDB, at its default isolation.
 */
class MariaDbFencingRulesTests extends FencingRulesTests {

	private static DataSource dataSource;

	@BeforeAll
	static void createDatabase() {
		dataSource = TestServers.newMariaDb();
	}

	@Override
	DataSource newDataSource() {
		return dataSource;
	}

}
