package io.fencing.fence.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fence on PostgreSQL.
 */
class PostgresJdbcFenceTests extends JdbcFenceTests {

	private static final DataSource DATA_SOURCE = TestServers.newPostgres();

	@Override
	DataSource newDataSource() {
		return DATA_SOURCE;
	}

	@Override
	void loseLock() {
		assertThatExceptionOfType(DuplicateKeyException.class)
			.isThrownBy(() -> this.database.jdbc.update("INSERT INTO account VALUES ('a', 1)"));
	}

	@Test
	void whenTableIsLockedThenWaitIsBounded() throws Exception {
		assertTableLockIsWaitedForInBoundsOnly("LOCK TABLE fencing_fence IN ACCESS EXCLUSIVE MODE", "ROLLBACK");
	}

	@Test
	void case28WhenReadOnlyTransactionWritesThenTheDatabasesErrorArrives() {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.database.operations.run(
				() -> this.database.readOnlyTransaction().executeWithoutResult((status) -> this.database.write(1)),
				TestHeld.next(RESOURCE)))
			.withMessageContaining("read-only");
	}

	@Test
	void whenTextCommitsBehindADefinitionThenHeldAgainByEquality() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
					int seen = this.database.read();
					this.database.jdbc.execute("CREATE TEMPORARY TABLE passing (id INT); COMMIT");
					assertThat(this.database.takeOver(RESOURCE)).isTrue();
					this.database.write(seen + 1);
				}), TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case78WhenStatementCannotRunInATransactionThenItIsNamedOrExcluded() throws Exception {
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> this.database.operations.run(() -> this.database.jdbc.execute("VACUUM account"),
					TestHeld.next(RESOURCE)))
			.withMessageContaining("fencing.jdbc.unfenced-statements");
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations.run(
				() -> this.database.jdbc.execute("create index concurrently i on account (balance)"),
				TestHeld.next(RESOURCE)));
		this.database.operations.run(() -> this.database.jdbc.execute("VACUUM  ANALYZE account"),
				TestHeld.next(RESOURCE));
		assertThat(this.database.unfenced).containsExactly("withdraw@postgresql");
	}

	@Test
	void case96WhenStorageCanOnlyBeReadThenTheRemedyIsTold() throws SQLException {
		SingleConnectionDataSource session = new SingleConnectionDataSource(DATA_SOURCE.getConnection(), true);
		new JdbcTemplate(session).execute("SET default_transaction_read_only = on");
		FencedDatabase readOnly = new FencedDatabase(session, JdbcFenceSettings.defaults());
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> readOnly.operations.enter(TestHeld.next(RESOURCE)))
			.withMessageContaining("'fencing.jdbc.excluded-storages'");
		session.destroy();
	}

}
