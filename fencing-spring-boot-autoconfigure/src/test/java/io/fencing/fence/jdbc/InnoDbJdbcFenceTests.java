package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import io.fencing.AdmissionTimeoutException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The fence on the databases that use InnoDB, which commits and rolls back on its own.
 */
abstract class InnoDbJdbcFenceTests extends JdbcFenceTests {

	/** Where transactions are not told otherwise, they are at READ COMMITTED. */
	static DataSource readCommitted(String url) {
		return TestServers.dataSource(url + "&sessionVariables=transaction_isolation='READ-COMMITTED'");
	}

	abstract String url();

	/**
	 * The setting, of a second, that ends a session which does nothing inside a
	 * transaction.
	 */
	abstract String idleLimit();

	@Override
	DataSource newDataSource() {
		return readCommitted(url());
	}

	private void inTransaction(Operations.Step body) {
		unchecked(() -> this.database.operations.run(
				() -> this.database.transaction().executeWithoutResult((status) -> unchecked(body)),
				TestHeld.next(RESOURCE)));
	}

	private static void assertReplaced(ThrowingCallable call) {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.REPLACED));
	}

	@Test
	void whenTableIsLockedThenWaitIsBounded() throws Exception {
		assertTableLockIsWaitedForInBoundsOnly("LOCK TABLES fencing_fence WRITE", "UNLOCK TABLES");
	}

	// the server goes on in another transaction

	@ParameterizedTest
	@ValueSource(strings = { "TRUNCATE TABLE account", "CREATE TABLE x (id INT)", "/*!80000 TRUNCATE TABLE account */",
			"# x\nTRUNCATE TABLE account", "ALTER TABLE account ADD COLUMN x INT", "LOCK TABLES account WRITE",
			"SET PASSWORD = ''", "SET SESSION autocommit = 1", "SET @@session.autocommit = 1",
			"SET sql_mode = '', autocommit = 1", "RENAME TABLE account TO x" })
	void case91WhenStatementCommitsImplicitlyThenRefused(String text) {
		for (TransactionTemplate transaction : List.of(this.database.transaction(), this.database.newTransaction())) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> this.database.operations.run(() -> transaction.executeWithoutResult((status) -> {
					this.database.write(1);
					this.database.jdbc.execute(text);
				}), TestHeld.next(RESOURCE)));
		}
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenEngineDoesNotRollBackThenTold() {
		this.database.raw.execute("ALTER TABLE fencing_fence ENGINE = MyISAM");
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.database.fence.verify(this.database.dataSource))
			.withMessageContaining("its engine does not roll back");
	}

	@Test
	void whenTableIsTemporaryThenItCommitsNothing() {
		inTransaction(() -> {
			this.database.jdbc.execute("CREATE TEMPORARY TABLE passing (id INT)");
			this.database.write(1);
			this.database.jdbc.execute("DROP TEMPORARY TABLE passing");
		});
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case67WhenOtherCodeCommitsImplicitlyThenRefusedAtCommit() {
		assertReplaced(() -> inTransaction(() -> {
			this.database.raw.execute("CREATE TABLE IF NOT EXISTS empty_one (id INT)");
			this.database.raw.execute("TRUNCATE TABLE empty_one");
			this.database.raw.update("UPDATE account SET balance = 7");
		}));
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void case67WhenTransactionWasReplacedAndANewerWorkerHasReadThenNothingIsApplied() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> inTransaction(() -> {
			int seen = this.database.read();
			loseLock();
			assertThat(this.database.takeOver(RESOURCE)).isTrue();
			this.database.raw.update("UPDATE account SET balance = ? WHERE id = 'a'", seen + 1);
		}));
		assertThat(this.database.balance()).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void case67And91WhenDeadlockVictimGoesOnThenRefused(boolean fenced) {
		JdbcTemplate template = fenced ? this.database.jdbc : this.database.raw;
		assertReplaced(() -> inTransaction(() -> {
			// the lighter transaction becomes the victim
			this.database.raw.queryForList("SELECT * FROM account WHERE id = 'a' FOR UPDATE");
			CountDownLatch locked = new CountDownLatch(1);
			Thread other = new Thread(() -> heavyTransaction(locked));
			other.start();
			locked.await();
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> template.update("UPDATE account SET balance = 5 WHERE id = 'b'"));
			other.join();
			this.database.raw.update("UPDATE account SET balance = 6 WHERE id = 'b'");
		}));
		assertThat(this.database.raw.queryForList("SELECT balance FROM account WHERE id IN ('a', 'b') ORDER BY id",
				Integer.class))
			.containsExactly(9, 9);
	}

	private void heavyTransaction(CountDownLatch locked) {
		new TransactionTemplate(this.database.manager).executeWithoutResult((status) -> {
			for (int i = 0; i < 50; i++) {
				this.database.raw.update("INSERT INTO account VALUES (?, 1)", "weight" + i);
			}
			this.database.raw.update("UPDATE account SET balance = 9 WHERE id = 'b'");
			locked.countDown();
			this.database.raw.update("UPDATE account SET balance = 9 WHERE id = 'a'");
		});
	}

	@Test
	void case91WhenReplacedTransactionIsRolledBackToASavepointThenStillRefused() {
		assertReplaced(() -> this.database.transaction().executeWithoutResult((outer) -> {
			unchecked(() -> this.database.operations.run(() -> this.database.write(1), TestHeld.next(RESOURCE)));
			loseLock();
			Object savepoint = outer.createSavepoint();
			outer.rollbackToSavepoint(savepoint);
			this.database.raw.update("UPDATE account SET balance = 7 WHERE id = 'b'");
		}));
		assertThat(this.database.raw.queryForObject("SELECT SUM(balance) FROM account", Integer.class)).isZero();
	}

	@Test
	void case91WhenJoinedTransactionWasReplacedThenRefusedAtCommit() {
		assertReplaced(() -> this.database.transaction().executeWithoutResult((outer) -> {
			unchecked(() -> this.database.operations.run(() -> this.database.write(1), TestHeld.next(RESOURCE)));
			loseLock();
			this.database.raw.update("UPDATE account SET balance = 7 WHERE id = 'b'");
		}));
		assertThat(this.database.raw.queryForObject("SELECT SUM(balance) FROM account", Integer.class)).isZero();
	}

	@Test
	void case13WhenHolderIsFrozenInsideATransactionThenTheServersLimitFreesItsResource() {
		FencedDatabase limited = new FencedDatabase(
				TestServers.dataSource(url() + "&sessionVariables=" + idleLimit() + "=1"),
				FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofSeconds(20)));
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> limited.operations.run(() -> limited.transaction().executeWithoutResult((frozen) -> {
				limited.write(limited.read() + 5);
				assertThat(limited.takeOver(RESOURCE)).isTrue();
			}), TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isOne();
	}

	// the locks outlive a roll back to a savepoint

	@Override
	@Test
	void case83WhenHoldOfANestedOperationIsUndoneThenTheCommitIsRefused() {
		inTransaction(() -> {
			this.database.write(5);
			this.database.raw.execute("SAVEPOINT sp");
			this.database.operations.run(this.database::read, TestHeld.next("account:b"));
			this.database.raw.execute("ROLLBACK TO SAVEPOINT sp");
			assertConflict("account:b");
		});
		assertThat(this.database.balance()).isEqualTo(5);
	}

	@Override
	@Test
	void case83WhenSavepointBeforeANestedHoldIsRolledBackUnseenThenRefusedAtCommit() {
		unchecked(() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
			this.database.raw.execute("SAVEPOINT sp");
			unchecked(() -> this.database.operations.run(() -> {
				this.database.raw.execute("ROLLBACK TO SAVEPOINT sp");
				assertConflict(RESOURCE);
				this.database.write(this.database.read() + 1);
			}, TestHeld.next(RESOURCE)));
		}), TestHeld.next("account:b")));
		assertThat(this.database.balance()).isOne();
	}

	private void assertConflict(String resource) {
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> Operations.elsewhere(() -> this.database.operations.enter(TestHeld.next(resource))))
			.withCauseInstanceOf(AdmissionTimeoutException.class);
	}

	// isolation

	@Test
	void case68WhenCallersTransactionHasTheDefaultIsolationThenRefusedWithTheRemedy() {
		FencedDatabase repeatable = new FencedDatabase(TestServers.dataSource(url()), JdbcFenceSettings.defaults());
		repeatable.transaction()
			.executeWithoutResult((outer) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> repeatable.operations.run(repeatable::read, TestHeld.next(RESOURCE)))
				.withMessageContaining("READ_COMMITTED"));
	}

	@ParameterizedTest
	@ValueSource(ints = { Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ,
			Connection.TRANSACTION_SERIALIZABLE })
	void case25WhenAFenceIsHeldThenThoseOfOtherResourcesAreFree(int isolation) throws Exception {
		TransactionTemplate transaction = this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED,
				isolation);
		// a table so small that a planner prefers to scan it
		this.database.operations.enter(TestHeld.next("account:b"));
		this.database.operations.run(() -> transaction.executeWithoutResult((status) -> {
			this.database.read();
			Operations.elsewhere(() -> this.database.operations.enter(TestHeld.next("account:b")));
			Operations.elsewhere(() -> this.database.operations.enter(TestHeld.next("account:d")));
			this.database.write(1);
		}), TestHeld.next(RESOURCE), TestHeld.next("account:c"));
		assertThat(this.database.balance()).isOne();
		assertThat(this.database.rejections).isEmpty();
	}

	@Test
	void case28WhenReadOnlyTransactionWritesThenTheDatabasesErrorArrives() {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.database.operations.run(
				() -> this.database.readOnlyTransaction().executeWithoutResult((status) -> this.database.write(1)),
				TestHeld.next(RESOURCE)))
			.withMessageMatching("(?is).*read.only.*");
		assertThat(this.database.balance()).isZero();
	}

}
