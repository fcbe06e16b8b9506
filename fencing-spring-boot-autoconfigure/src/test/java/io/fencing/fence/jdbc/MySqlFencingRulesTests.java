package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;

/**
 * The rules on MySQL, at its default isolation.
 */
class MySqlFencingRulesTests extends FencingRulesTests {

	private static DataSource dataSource;

	@BeforeAll
	static void createDatabase() {
		dataSource = TestServers.newMySql();
	}

	@Override
	DataSource newDataSource() {
		return dataSource;
	}

}
