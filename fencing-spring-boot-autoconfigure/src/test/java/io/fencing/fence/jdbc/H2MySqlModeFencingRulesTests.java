package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.testing.TestServers;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * The rules on H2 in its MySQL mode.
 */
class H2MySqlModeFencingRulesTests extends FencingRulesTests {

	@Override
	DataSource newDataSource() {
		return new DriverManagerDataSource(
				TestServers.newH2Url() + ";MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE");
	}

}
