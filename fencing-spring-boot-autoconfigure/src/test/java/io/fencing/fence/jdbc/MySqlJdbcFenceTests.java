package io.fencing.fence.jdbc;

import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The fence on MySQL.
 */
class MySqlJdbcFenceTests extends InnoDbJdbcFenceTests {

	private static String url;

	@BeforeAll
	static void createServer() {
		url = TestServers.newMySqlUrl();
		new JdbcTemplate(TestServers.dataSource(url)).execute("CREATE PROCEDURE set_balance(new_balance INT) "
				+ "BEGIN UPDATE account SET balance = new_balance WHERE id = 'a'; SELECT new_balance; END");
	}

	@Override
	String url() {
		return url;
	}

	@Override
	String idleLimit() {
		return "wait_timeout";
	}

	@Override
	String writingQuery() {
		return "CALL set_balance(?)";
	}

}
