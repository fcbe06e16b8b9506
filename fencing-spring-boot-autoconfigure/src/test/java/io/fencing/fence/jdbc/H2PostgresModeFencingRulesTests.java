package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The rules on H2 in its PostgreSQL mode.
 */
class H2PostgresModeFencingRulesTests extends FencingRulesTests {

	@Override
	DataSource newDataSource() {
		return new DriverManagerDataSource(TestServers.newH2Url() + ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE");
	}

}
