package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

/**
 * The rules on H2.
 */
class H2FencingRulesTests extends FencingRulesTests {

	@Override
	DataSource newDataSource() {
		return TestServers.newH2();
	}

}
