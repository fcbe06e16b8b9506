package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.CompletionException;

import javax.sql.DataSource;

import io.fencing.AdmissionTimeoutException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.StatementCallback;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fence on H2.
 */
class H2JdbcFenceTests extends JdbcFenceTests {

	@Override
	DataSource newDataSource() {
		return TestServers.newH2();
	}

	@Override
	String writingQuery() {
		return "SELECT balance FROM FINAL TABLE (UPDATE account SET balance = ? WHERE id = 'a')";
	}

	@ParameterizedTest
	@ValueSource(strings = { "REGULAR", "PostgreSQL;DATABASE_TO_LOWER=TRUE", "MySQL;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
			"LEGACY" })
	void case58WhenH2HasACompatibilityModeThenItIsFencedAllTheSame(String mode) throws Exception {
		FencedDatabase other = FencedDatabase.create(
				new DriverManagerDataSource("jdbc:h2:mem:" + mode.hashCode() + ";MODE=" + mode + ";DB_CLOSE_DELAY=-1"));
		other.operations.run(() -> {
			other.write(1);
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> other.transaction().executeWithoutResult((status) -> {
					other.write(2);
					other.takeOver(RESOURCE);
				}));
		}, TestHeld.next(RESOURCE));
		other.takeOver(RESOURCE);
		assertThat(other.balance()).isEqualTo(2);
	}

	@Test
	void whenHeldThenStatementsOfTheApplicationKeepTheirTimeOut() throws Exception {
		StatementCallback<Integer> timeout = Statement::getQueryTimeout;
		this.database.operations.run(
				() -> this.database.transaction()
					.executeWithoutResult((status) -> assertThat(this.database.jdbc.execute(timeout)).isZero()),
				TestHeld.next(RESOURCE));
	}

	@Test
	void case91WhenStatementCommitsImplicitlyThenRefused() {
		for (String text : new String[] { "TRUNCATE TABLE account", "CREATE TABLE x (id INT)" }) {
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations
				.run(() -> this.database.transaction().executeWithoutResult((status) -> {
					this.database.write(1);
					this.database.jdbc.execute(text);
				}), TestHeld.next(RESOURCE)));
		}
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void case91WhenTransactionWasReplacedThenRefusedAtCommit() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
					this.database.write(1);
					loseLock();
					this.database.jdbc.update("UPDATE account SET balance = 5 WHERE id = 'b'");
				}), TestHeld.next(RESOURCE)))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REPLACED));
		assertThat(this.database.raw.queryForObject("SELECT SUM(balance) FROM account", Integer.class)).isZero();
	}

	@Test
	void case91WhenVictimOfAConflictGoesOnThenRefused() {
		TransactionTemplate snapshot = this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED,
				TransactionDefinition.ISOLATION_REPEATABLE_READ);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> this.database.operations.run(() -> snapshot.executeWithoutResult((status) -> {
				this.database.write(1);
				Operations.elsewhere(() -> this.database.raw.update("UPDATE account SET balance = 8 WHERE id = 'b'"));
				// H2 rolls back the whole transaction with this
				assertThatExceptionOfType(PessimisticLockingFailureException.class)
					.isThrownBy(() -> this.database.jdbc.update("UPDATE account SET balance = 2 WHERE id = 'b'"));
				this.database.raw.update("UPDATE account SET balance = 3 WHERE id = 'b'");
			}), TestHeld.next(RESOURCE)))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REPLACED));
		assertThat(this.database.raw.queryForList("SELECT balance FROM account ORDER BY id", Integer.class))
			.containsExactly(0, 8);
	}

	@Test
	void case66WhenOuterLockIsGoneAndAClaimIsUnderWayThenNestedTransactionDoesNotRestOnIt() throws Exception {
		try (Connection claimer = this.database.dataSource.getConnection()) {
			claimer.setAutoCommit(false);
			assertThatExceptionOfType(AdmissionTimeoutException.class).isThrownBy(() -> this.database.operations
				.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
					loseLock();
					JdbcFenceTests.unchecked(
							() -> claimer.createStatement().executeQuery("SELECT * FROM fencing_fence FOR UPDATE"));
					this.database.newTransaction().executeWithoutResult((inner) -> this.database.write(1));
				}), TestHeld.next(RESOURCE)));
		}
		assertThat(this.database.balance()).isZero();
	}

}
