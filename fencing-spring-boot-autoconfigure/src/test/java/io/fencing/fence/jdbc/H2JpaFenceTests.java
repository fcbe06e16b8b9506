package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

/**
 * JPA on H2.
 */
class H2JpaFenceTests extends JpaFenceTests {

	private static final DataSource DATA_SOURCE = TestServers.newH2();

	@Override
	DataSource newDataSource() {
		return DATA_SOURCE;
	}

}
