package io.fencing.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.JournalUnavailableException;
import io.fencing.autoconfigure.JournaledOperationTests.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.StatementCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The longest time for statements of the journal, on real servers.
 */
class JournalLimitTests {

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void whenTableIsLockedThenTheBodyDoesNotRunAndLaterItDoes(Server server) throws SQLException {
		try (ConfigurableApplicationContext node = start(server)) {
			boolean postgres = server == Server.POSTGRESQL;
			try (Connection other = node.getBean(DataSource.class).getConnection();
					Statement statement = other.createStatement()) {
				other.setAutoCommit(false);
				statement.execute(postgres ? "LOCK TABLE fencing_operation IN ACCESS EXCLUSIVE MODE"
						: "LOCK TABLES fencing_operation WRITE");
				assertThatExceptionOfType(JournalUnavailableException.class).isThrownBy(() -> call(node, "d-1", () -> {
					throw new IllegalStateException("ran");
				}));
				statement.execute(postgres ? "ROLLBACK" : "UNLOCK TABLES");
				other.setAutoCommit(true);
			}
			assertThat(call(node, "d-1", () -> "done")).isEqualTo("done");
		}
	}

	// H2 keeps a time-out for the connection
	@Test
	void whenJournalIsUsedThenStatementsOfTheApplicationKeepTheirTimeOut() {
		StatementCallback<Integer> timeout = Statement::getQueryTimeout;
		try (ConfigurableApplicationContext node = start(Server.H2)) {
			JdbcTemplate jdbc = node.getBean(JdbcTemplate.class);
			assertThat(call(node, "d-1", () -> String.valueOf(jdbc.execute(timeout)))).isEqualTo("0");
			jdbc.execute((Statement statement) -> {
				statement.setQueryTimeout(60);
				return true;
			});
			assertThat(call(node, "d-2", () -> "again")).isEqualTo("again");
			assertThat(jdbc.execute(timeout)).isEqualTo(60);
		}
	}

	private static ConfigurableApplicationContext start(Server server) {
		return LedgerApplication.startOn(server.newUrl(), "fencing.journal.timeout=500ms",
				"spring.datasource.hikari.maximum-pool-size=" + ((server == Server.H2) ? 1 : 4));
	}

	private static String call(ConfigurableApplicationContext node, String identity,
			FencedBody<String, RuntimeException> body) {
		return node.getBean(FencedOperations.class)
			.call(FencedOperationRequest.builder("deposit")
				.resource("account:1")
				.operationId(identity)
				.resultType(String.class)
				.build(), body);
	}

}
