package io.fencing.autoconfigure;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.InvalidFencedOperationException;
import io.fencing.testing.TestServers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An error that the application has caught does not end as a success that saved nothing.
 */
class SwallowedErrorTests {

	// PostgreSQL has aborted the transaction then, and a commit of it is a roll back
	@ParameterizedTest
	@ValueSource(strings = { "SELECT 1 / 0", "ROLLBACK TO SAVEPOINT nowhere" })
	void case21WhenErrorIsSwallowedAndTheTransactionAbortedThenTheCallFails(String failing) {
		try (ConfigurableApplicationContext context = LedgerApplication.startOn(TestServers.newPostgresUrl())) {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE saved (id INT)");
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> context.getBean(FencedOperations.class)
					.run(FencedOperationRequest.of("save", "saved:1"),
							() -> transaction.executeWithoutResult((status) -> saveAndSwallow(jdbc, failing))))
				.withMessageContaining("would be rolled back by its commit");
			assertThat(jdbc.queryForList("SELECT id FROM saved")).isEmpty();
		}
	}

	private static void saveAndSwallow(JdbcTemplate jdbc, String failing) {
		jdbc.update("INSERT INTO saved VALUES (1)");
		try {
			jdbc.execute(failing);
		}
		catch (DataAccessException ex) {
			// as an application does that thinks it knows better
		}
	}

}
