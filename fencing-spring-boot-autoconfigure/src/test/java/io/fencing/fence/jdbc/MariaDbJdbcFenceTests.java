package io.fencing.fence.jdbc;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fence on MariaDB.
 */
class MariaDbJdbcFenceTests extends InnoDbJdbcFenceTests {

	private static String url;

	@BeforeAll
	static void createServer() {
		url = TestServers.newMariaDbUrl();
	}

	@Override
	String url() {
		return url;
	}

	@Override
	String idleLimit() {
		return "idle_transaction_timeout";
	}

	@Override
	String writingQuery() {
		return "REPLACE INTO account VALUES ('a', ?) RETURNING balance";
	}

	@Test
	void case25WhenRowHasChangedSinceTheSnapshotThenTheDatabasesErrorArrivesOrTheCommitIsRefused() {
		TransactionTemplate snapshot = this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED,
				TransactionDefinition.ISOLATION_REPEATABLE_READ);
		this.database.raw.execute("SET GLOBAL innodb_snapshot_isolation = ON");
		Runnable conflict = () -> {
			this.database.read();
			Operations
				.elsewhere(() -> this.database.raw.update("UPDATE account SET balance = balance + 8 WHERE id = 'b'"));
			this.database.jdbc.update("UPDATE account SET balance = 2 WHERE id = 'b'");
		};
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.database.operations
				.run(() -> snapshot.executeWithoutResult((status) -> conflict.run()), TestHeld.next(RESOURCE)))
			.withMessageContaining("1020");
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> this.database.operations.run(() -> snapshot.executeWithoutResult((status) -> {
				this.database.write(1);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(conflict::run);
				this.database.raw.update("UPDATE account SET balance = 3 WHERE id = 'a'");
			}), TestHeld.next(RESOURCE)))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REPLACED));
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void rule12WhenEmptyStringsAreNullThenExpiredRowsGoAllTheSame() {
		FencedDatabase odd = FencedDatabase
			.create(TestServers.dataSource(url() + "&sessionVariables=sql_mode='EMPTY_STRING_IS_NULL'"));
		odd.raw.update("INSERT INTO fencing_fence VALUES (?, 'default', 1, 'x', '2020-01-01')",
				TestHeld.next(RESOURCE).getResource().getKey());
		assertThat(odd.fence.removeExpired()).isOne();
	}

	@Test
	void case96WhenStorageCanOnlyBeReadThenTheRemedyIsTold() {
		FencedDatabase readOnly = new FencedDatabase(
				TestServers.dataSource(url() + "&sessionVariables=transaction_read_only=1"),
				JdbcFenceSettings.defaults());
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> readOnly.operations.enter(TestHeld.next(RESOURCE)))
			.withMessageContaining("'fencing.jdbc.excluded-storages'");
	}

}
