package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.fencing.AdmissionTimeoutException;
import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseLostException;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence.CallerTransaction;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a JDBC fence does, on every database: one small subclass for each.
 */
abstract class JdbcFenceTests {

	static final String RESOURCE = "account:a";

	FencedDatabase database;

	abstract DataSource newDataSource();

	@BeforeEach
	void createDatabase() {
		this.database = FencedDatabase.create(newDataSource());
	}

	// claim

	@Test
	void whenResourceIsNewThenClaimStoresTokenAndOwner() {
		TestHeld held = TestHeld.next(RESOURCE);
		this.database.operations.enter(held);
		assertThat(this.database.tokens()).containsExactly(held.getToken().value() + ":" + held.getToken().owner());
		assertThat(this.database.fence.getStorage()).isIn("postgresql", "mysql", "mariadb", "h2");
	}

	@Test
	void whenSameOwnerClaimsAgainThenAdmitted() {
		TestHeld held = TestHeld.next(RESOURCE);
		this.database.operations.enter(held);
		assertThatCode(() -> this.database.operations.enter(held)).doesNotThrowAnyException();
	}

	@Test
	void whenTokenIsOlderThenRefusedWithTheAcceptedToken() {
		TestHeld older = TestHeld.next(RESOURCE);
		TestHeld newer = TestHeld.next(RESOURCE);
		this.database.operations.enter(newer);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.database.operations.enter(older))
			.satisfies((ex) -> {
				assertThat(ex.getReason()).isEqualTo(RejectionReason.STALE);
				assertThat(ex.getAcceptedToken()).isEqualTo(newer.getToken().value());
				assertThat(ex.getToken()).isEqualTo(older.getToken().value());
				assertThat(ex).hasMessageContaining("withdraw").hasMessageNotContaining(RESOURCE);
			});
	}

	@Test
	void case18WhenTokenIsEqualButOwnerIsAnotherThenRefused() {
		TestHeld first = TestHeld.next(RESOURCE);
		TestHeld second = TestHeld.of(RESOURCE, first.getToken().value());
		this.database.operations.enter(first);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.database.operations.enter(second));
	}

	@Test
	void whenRowIsLockedThenOlderTokenIsToldAtOnceAndNewerWaitsItsTimeOnly() throws Exception {
		TestHeld older = TestHeld.next(RESOURCE);
		TestHeld holder = TestHeld.next(RESOURCE);
		this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
			this.database.write(1);
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> Operations.elsewhere(() -> this.database.operations.enter(older)))
				.withCauseInstanceOf(StaleTokenException.class);
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> Operations.elsewhere(() -> this.database.operations.enter(TestHeld.next(RESOURCE))))
				.withCauseInstanceOf(AdmissionTimeoutException.class);
		}), holder);
		assertThat(this.database.balance()).isEqualTo(1);
		assertThat(this.database.rejections).containsExactly(RejectionReason.STALE, RejectionReason.CONFLICT);
		assertThat(this.database.takeOver(RESOURCE)).isTrue();
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void rule12WhenTokenIsOlderThanTheRetentionAndItsRowIsGoneThenExpired() {
		long eightDaysAgo = (System.currentTimeMillis() - Duration.ofDays(8).toMillis()) * 1000;
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> this.database.operations.enter(TestHeld.of(RESOURCE, eightDaysAgo)))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.EXPIRED));
		assertThat(this.database.tokens()).isEmpty();
	}

	@Test
	void whenLeaseIsLostBeforeTheClaimThenNothingIsClaimed() {
		TestHeld held = TestHeld.next(RESOURCE);
		held.lose();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> this.database.operations.enter(held));
		assertThat(this.database.tokens()).isEmpty();
	}

	@Test
	void whenPoolHasNoAutoCommitAndIsSerializableThenClaimIsCommittedAndSettingsAreRestored() {
		AtomicInteger connections = new AtomicInteger();
		DataSource odd = new DelegatingDataSource(this.database.dataSource) {

			@Override
			public Connection getConnection() throws java.sql.SQLException {
				Connection connection = super.getConnection();
				connection.setAutoCommit(false);
				connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
				connections.incrementAndGet();
				return new CloseCheckedConnection(connection).proxy((closing) -> {
					assertThat(closing.getAutoCommit()).isFalse();
					assertThat(closing.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
				});
			}

		};
		FencedDatabase other = new FencedDatabase(odd, JdbcFenceSettings.defaults());
		other.operations.enter(TestHeld.next(RESOURCE));
		other.operations.enter(TestHeld.next(RESOURCE));
		assertThat(connections).hasValue(2);
		assertThat(this.database.tokens()).hasSize(1);
	}

	@Test
	void whenTableIsMissingThenOneClearFailure() {
		this.database.raw.execute("DROP TABLE fencing_fence");
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.database.operations.enter(TestHeld.next(RESOURCE)))
			.withMessageContaining("schema-" + this.database.fence.getStorage() + ".sql")
			.withMessageContaining("initialize-schema");
	}

	@Test
	void whenTableIsNotWhatItMustBeThenToldAndNothingStays() {
		this.database.fence.verify(this.database.dataSource);
		assertThat(this.database.tokens()).isEmpty();
		for (String wrong : new String[] {
				"resource_key VARCHAR(64) NOT NULL, namespace VARCHAR(200), token BIGINT, owner VARCHAR(64), claimed_at TIMESTAMP",
				"resource_key VARCHAR(64) PRIMARY KEY, namespace VARCHAR(200), token BIGINT, owner VARCHAR(20), claimed_at TIMESTAMP",
				"resource_key VARCHAR(64) PRIMARY KEY, namespace VARCHAR(200), token INT, owner VARCHAR(64), claimed_at TIMESTAMP",
				"resource_key VARCHAR(64) PRIMARY KEY, namespace VARCHAR(200), token BIGINT, owner VARCHAR(64), claimed_at TIMESTAMP, note INT NOT NULL",
				"resource_key VARCHAR(64) PRIMARY KEY, token BIGINT, owner VARCHAR(64)" }) {
			this.database.raw.execute("DROP TABLE fencing_fence");
			this.database.raw.execute("CREATE TABLE fencing_fence (" + wrong + ")");
			assertThatExceptionOfType(InvalidFencedOperationException.class).as(wrong)
				.isThrownBy(() -> this.database.fence.verify(this.database.dataSource))
				.withMessageContaining("'fencing_fence'")
				.withMessageContaining("schema-" + this.database.fence.getStorage() + ".sql")
				.satisfies((ex) -> assertThat(ex.getCause() == null
						|| ex.getMessage().contains(ex.getCause().getMessage().lines().findFirst().orElseThrow()))
					.isTrue());
			assertThat(this.database.raw.queryForObject("SELECT COUNT(*) FROM fencing_fence", Integer.class)).isZero();
		}
	}

	@Test
	void whenObservedThenNeitherWaitsNorFails() throws Exception {
		TestHeld older = TestHeld.next(RESOURCE);
		TestHeld holder = TestHeld.next(RESOURCE);
		this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
			assertThat(Operations.elsewhere(() -> observe(TestHeld.next(RESOURCE)))).isEqualTo(Observation.UNKNOWN);
			assertThat(Operations.elsewhere(() -> observe(older))).isEqualTo(Observation.REFUSED);
			assertThat(observe(TestHeld.next("account:b"))).isEqualTo(Observation.UNKNOWN);
		}), holder);
		assertThat(observe(TestHeld.next(RESOURCE))).isEqualTo(Observation.ADMITTED);
		this.database.raw.execute("DROP TABLE fencing_fence");
		assertThat(observe(TestHeld.next(RESOURCE))).isEqualTo(Observation.UNKNOWN);
	}

	private Observation observe(TestHeld held) {
		return this.database.fence.observe(new OperationContext("withdraw", List.of(held), null));
	}

	// hold

	@Test
	void case13WhenTakenOverBetweenLocalCheckAndHoldThenRefusedByTheDatabase() throws Exception {
		AtomicBoolean armed = new AtomicBoolean();
		DataSource slow = new DelegatingDataSource(this.database.dataSource) {

			@Override
			public Connection getConnection() throws java.sql.SQLException {
				if (armed.compareAndSet(true, false)) {
					JdbcFenceTests.this.database.takeOver(RESOURCE);
				}
				return super.getConnection();
			}

		};
		FencedDatabase slowDatabase = new FencedDatabase(slow, JdbcFenceSettings.defaults());
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> slowDatabase.operations.run(() -> {
			int seen = slowDatabase.read();
			armed.set(true);
			slowDatabase.writeInTransaction(seen + 1);
		}, TestHeld.next(RESOURCE))).satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.STALE));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	@Test
	void rule3WhenFenceShowsAnythingElseAfterTheClaimThenRefused() {
		Map.of("DELETE FROM fencing_fence", RejectionReason.MISSING, "UPDATE fencing_fence SET token = token - 1",
				RejectionReason.MISSING, "UPDATE fencing_fence SET token = token + 1", RejectionReason.STALE,
				"UPDATE fencing_fence SET owner = 'another'", RejectionReason.STALE)
			.forEach((change, reason) -> {
				OperationContext context = this.database.operations.enter(TestHeld.next(RESOURCE));
				this.database.raw.update(change);
				assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> Operations.in(context, () -> {
					this.database.writeInTransaction(7);
					return true;
				})).satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(reason));
			});
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenBodyUsesNoTemplateThenRefusedAtCommit() throws Exception {
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> {
			try (OperationContext.Scope scope = stale.open()) {
				this.database.transaction()
					.executeWithoutResult((status) -> this.database.raw.update("UPDATE account SET balance = 7"));
			}
		});
		assertThat(this.database.balance()).isEqualTo(1);
		assertThat(stale.hasMetFence()).isTrue();
	}

	@Test
	void case92WhenBodySwallowsTheRefusalAndSetsRollbackOnlyThenStillRefused() throws Exception {
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(stale, () -> this.database.transaction().execute((status) -> {
				try {
					this.database.write(7);
				}
				catch (FencingException ex) {
					status.setRollbackOnly();
				}
				return "ok";
			})));
		assertThat(this.database.balance()).isEqualTo(1);
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	@Test
	void case92WhenNothingMeetsTheRefusalAndTheBodySetsRollbackOnlyThenStillRefused() throws Exception {
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(stale, () -> this.database.transaction().execute((status) -> {
				this.database.raw.update("UPDATE account SET balance = 7");
				status.setRollbackOnly();
				return "ok";
			})));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	@Test
	void case26WhenTransactionHasAnotherIsolationThenStillHeldOrRefused() throws Exception {
		for (int isolation : List.of(TransactionDefinition.ISOLATION_REPEATABLE_READ,
				TransactionDefinition.ISOLATION_SERIALIZABLE)) {
			TransactionTemplate transaction = this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED,
					isolation);
			int before = this.database.balance();
			OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
			this.database.takeOver(RESOURCE);
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> Operations.in(stale, () -> transaction.execute((status) -> {
					this.database.write(77);
					return true;
				})));
			this.database.operations.run(
					() -> transaction.executeWithoutResult((status) -> this.database.write(this.database.read() + 1)),
					TestHeld.next(RESOURCE));
			assertThat(this.database.balance()).isEqualTo(before + 2);
		}
	}

	@Test
	void case75WhenTransactionIsReadOnlyThenReadsPassWhileTheFenceIsOurs() throws Exception {
		OperationContext context = this.database.operations.enter(TestHeld.next(RESOURCE));
		int seen = Operations.in(context,
				() -> this.database.readOnlyTransaction().execute((status) -> this.database.read()));
		assertThat(seen).isZero();
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(context,
					() -> this.database.readOnlyTransaction().execute((status) -> this.database.read())))
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.STALE));
	}

	@Test
	void case66WhenOuterLockIsGoneThenNestedTransactionTakesItsOwnHold() throws Exception {
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(stale, () -> this.database.transaction().execute((outer) -> {
				int seen = this.database.read();
				loseLock();
				assertThat(this.database.takeOver(RESOURCE)).isTrue();
				this.database.newTransaction().executeWithoutResult((inner) -> this.database.write(seen + 1));
				return true;
			})));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	/** As a failed statement does on PostgreSQL and a deadlock on H2. */
	void loseLock() {
		try {
			DataSourceUtils.getConnection(this.database.dataSource).rollback();
		}
		catch (java.sql.SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void whenTransactionIsNestedInAnotherOfTheSameOperationThenBothHold() throws Exception {
		this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
			this.database.jdbc.update("UPDATE account SET balance = 5 WHERE id = 'b'");
			this.database.newTransaction().executeWithoutResult((inner) -> {
				this.database.write(1);
				this.database.newTransaction().executeWithoutResult((innermost) -> this.database.read());
			});
		}), TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	@Test
	void case83WhenSavepointBeforeAJoinedHoldIsRolledBackThenHeldAgainByEquality() throws Exception {
		TestHeld held = TestHeld.next(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> this.database.transaction().executeWithoutResult((outer) -> {
				Object savepoint = outer.createSavepoint();
				unchecked(() -> this.database.operations.run(this.database::read, held));
				outer.rollbackToSavepoint(savepoint);
				assertThat(this.database.takeOver(RESOURCE)).isTrue();
				this.database.write(7);
			}));
		assertThat(this.database.balance()).isEqualTo(1);
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
		assertThat(OperationContext.get()).isNull();
	}

	@Test
	void case83WhenSavepointRollbackMeetsNobodyNewerThenWorkGoesOn() throws Exception {
		this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
			this.database.write(1);
			TransactionTemplate nested = this.database.transaction(TransactionDefinition.PROPAGATION_NESTED,
					TransactionDefinition.ISOLATION_DEFAULT);
			nested.executeWithoutResult((inner) -> {
				this.database.write(2);
				inner.setRollbackOnly();
			});
			this.database.write(this.database.read() + 10);
		}), TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(11);
	}

	@Test
	void case83WhenSavepointBeforeAJoinedHoldIsRolledBackAndNobodyIsNewerThenWorkGoesOn() {
		this.database.transaction().executeWithoutResult((outer) -> {
			Object savepoint = outer.createSavepoint();
			unchecked(() -> this.database.operations.run(() -> this.database.write(5), TestHeld.next(RESOURCE)));
			outer.rollbackToSavepoint(savepoint);
			this.database.write(this.database.read() + 1);
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> this.database.takeOver(RESOURCE))
				.withCauseInstanceOf(AdmissionTimeoutException.class);
		});
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case83WhenHoldOfANestedOperationIsUndoneThenTheCommitIsRefused() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
					this.database.write(5);
					this.database.raw.execute("SAVEPOINT sp");
					unchecked(() -> this.database.operations.run(this.database::read, TestHeld.next("account:b")));
					this.database.raw.execute("ROLLBACK TO SAVEPOINT sp");
					this.database.raw.update("UPDATE account SET balance = 7 WHERE id = 'b'");
					Operations.elsewhere(() -> this.database.operations.enter(TestHeld.next("account:b")));
				}), TestHeld.next(RESOURCE)));
		assertThat(this.database.raw.queryForObject("SELECT SUM(balance) FROM account", Integer.class)).isZero();
	}

	@Test
	void case83WhenRolledBackToSavepointByTextThenHeldAgain() {
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> this.database.transaction().executeWithoutResult((outer) -> {
				this.database.raw.execute("SAVEPOINT sp");
				unchecked(() -> this.database.operations.run(this.database::read, TestHeld.next(RESOURCE)));
				this.database.jdbc.execute("ROLLBACK TO SAVEPOINT sp");
				assertThat(this.database.takeOver(RESOURCE)).isTrue();
				this.database.write(7);
			}));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	@Test
	void case83WhenSavepointBeforeANestedHoldIsRolledBackUnseenThenRefusedAtCommit() {
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
					this.database.raw.execute("SAVEPOINT sp");
					unchecked(() -> this.database.operations.run(() -> {
						int seen = this.database.read();
						this.database.raw.execute("ROLLBACK TO SAVEPOINT sp");
						assertThat(this.database.takeOver(RESOURCE)).isTrue();
						this.database.raw.update("UPDATE account SET balance = ? WHERE id = 'a'", seen + 1);
					}, TestHeld.next(RESOURCE)));
				}), TestHeld.next("account:b")));
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void rule11WhenRefusalIsSwallowedThenTransactionThatHoldsIsNotCommitted() {
		TestHeld held = TestHeld.next(RESOURCE);
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(
				() -> this.database.operations.run(() -> this.database.transaction().executeWithoutResult((status) -> {
					this.database.write(7);
					held.lose();
					assertThatExceptionOfType(LeaseLostException.class)
						.isThrownBy(() -> this.database.newTransaction().executeWithoutResult((inner) -> {
						}));
				}), held));
		assertThat(this.database.balance()).isZero();
	}

	// joined transactions

	@Test
	void case68WhenConnectionBoundAroundHasAnOldSnapshotThenRefusedAtEntry() {
		DataSource snapshots = new DelegatingDataSource(this.database.dataSource) {

			@Override
			public Connection getConnection() throws java.sql.SQLException {
				Connection connection = super.getConnection();
				connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
				connection.setAutoCommit(false);
				return connection;
			}

		};
		FencedDatabase other = new FencedDatabase(snapshots, JdbcFenceSettings.defaults());
		other.transaction(TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.ISOLATION_DEFAULT)
			.executeWithoutResult((scope) -> {
				other.read();
				this.database.takeOver(RESOURCE);
				assertThatExceptionOfType(InvalidFencedOperationException.class)
					.isThrownBy(
							() -> other.operations.run(() -> other.write(other.read() + 1), TestHeld.next(RESOURCE)))
					.withMessageContaining("READ_COMMITTED");
			});
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case02WhenJoinedThenNextHolderWaitsForTheOuterCommit() throws Exception {
		this.database.transaction().executeWithoutResult((outer) -> {
			unchecked(() -> this.database.operations.run(() -> this.database.write(this.database.read() + 1),
					TestHeld.next(RESOURCE)));
			assertThat(OperationContext.get()).isNotNull();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> this.database.takeOver(RESOURCE))
				.withCauseInstanceOf(AdmissionTimeoutException.class);
		});
		assertThat(OperationContext.get()).isNull();
		this.database.takeOver(RESOURCE);
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void case68WhenSnapshotOfTheCallerMayBeOldThenRefusedWithTheRemedy() {
		for (int isolation : List.of(TransactionDefinition.ISOLATION_REPEATABLE_READ,
				TransactionDefinition.ISOLATION_SERIALIZABLE)) {
			this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED, isolation)
				.executeWithoutResult((outer) -> {
					this.database.raw.queryForObject("SELECT balance FROM account WHERE id = 'b'", Integer.class);
					this.database.takeOver(RESOURCE);
					assertThatExceptionOfType(InvalidFencedOperationException.class)
						.isThrownBy(() -> this.database.operations.run(this.database::read, TestHeld.next(RESOURCE)))
						.withMessageContaining("REQUIRES_NEW")
						.withMessageContaining("READ_COMMITTED");
				});
		}
	}

	@Test
	void whenJoinedTransactionsAreRejectedThenRefused() {
		FencedDatabase strict = new FencedDatabase(this.database.dataSource,
				FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.REJECT, Duration.ofMillis(300)));
		strict.transaction()
			.executeWithoutResult((outer) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> strict.operations.run(strict::read, TestHeld.next(RESOURCE)))
				.withMessageContaining("fencing.joined-transactions"));
	}

	@Test
	void case76WhenOperationHasItsOwnTransactionThenItIsNotJoined() {
		this.database
			.transaction(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.ISOLATION_SERIALIZABLE)
			.executeWithoutResult((outer) -> {
				this.database.raw.queryForObject("SELECT balance FROM account WHERE id = 'b'", Integer.class);
				unchecked(() -> this.database.operations
					.callInOwnTransaction(() -> this.database.newTransaction().execute((inner) -> {
						this.database.write(this.database.read() + 1);
						return true;
					}), TestHeld.next(RESOURCE)));
				assertThat(this.database.balance()).isEqualTo(1);
			});
	}

	@Test
	void whenOperationWithItsOwnTransactionUsesTheCallersThenRefused() {
		this.database.transaction().executeWithoutResult((outer) -> {
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.database.operations.callInOwnTransaction(() -> {
					this.database.write(1);
					return true;
				}, TestHeld.next(RESOURCE)));
			outer.setRollbackOnly();
		});
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void case89WhenNestedOperationRunsInTheOperationsOwnTransactionThenItJoinsOnlyWhereSafe() throws Exception {
		this.database.operations.run(() -> this.database.transaction().executeWithoutResult((outer) -> {
			unchecked(() -> this.database.operations.run(() -> this.database.write(1), TestHeld.next("account:b")));
			this.database.write(this.database.read() + 1);
		}), TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(2);
		TransactionTemplate repeatable = this.database.transaction(TransactionDefinition.PROPAGATION_REQUIRED,
				TransactionDefinition.ISOLATION_REPEATABLE_READ);
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> this.database.operations.run(
				() -> repeatable.executeWithoutResult((outer) -> unchecked(
						() -> this.database.operations.run(this.database::read, TestHeld.next("account:b")))),
				TestHeld.next(RESOURCE)));
	}

	@Test
	void whenCallersTransactionIsAlreadyCommittedThenRefusedUnlessOwn() {
		AtomicInteger refused = new AtomicInteger();
		AtomicBoolean own = new AtomicBoolean();
		Consumer<String> enter = (phase) -> {
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.database.fence.inspect("withdraw", false))
				.withMessageContaining("REQUIRES_NEW");
			own.set(this.database.fence.inspect("withdraw", true) == null);
			refused.incrementAndGet();
		};
		this.database.transaction()
			.executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						enter.accept("afterCommit");
					}

					@Override
					public void afterCompletion(int completion) {
						enter.accept("afterCompletion");
					}

				}));
		assertThat(refused).hasValue(2);
		assertThat(own).isTrue();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	// statements

	@Test
	void whenStatementHasNoTransactionThenItGetsAHeldOne() throws Exception {
		OperationContext context = this.database.operations.enter(TestHeld.next(RESOURCE));
		Operations.in(context, () -> {
			this.database.write(this.database.read() + 1);
			return true;
		});
		assertThat(context.hasMetFence()).isTrue();
		assertThat(this.database.balance()).isEqualTo(1);
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> Operations.in(context, () -> {
			this.database.write(9);
			return true;
		}));
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void case85WhenQueryWritesThenItIsHeldAndAStreamOfItIsRefused() throws Exception {
		String write = writingQuery();
		this.database.operations.run(() -> {
			assertThat(this.database.jdbc.queryForObject(write, Integer.class, 3)).isEqualTo(3);
			assertThat(JdbcClient.create(this.database.jdbc).sql(write).param(4).query(Integer.class).single())
				.isEqualTo(4);
		}, TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(4);
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations.run(
				() -> this.database.jdbc.queryForStream(write, (rows, row) -> rows.getInt(1), 5).close(),
				TestHeld.next(RESOURCE)));
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(stale, () -> this.database.jdbc.queryForObject(write, Integer.class, 9)));
		assertThat(this.database.balance()).isEqualTo(5);
	}

	/**
	 * While the whole fence table is locked by somebody who changes it.
	 * @param lock the statement that locks it
	 * @param unlock the statement that gives it free
	 */
	void assertTableLockIsWaitedForInBoundsOnly(String lock, String unlock) throws Exception {
		OperationContext begun = this.database.operations.enter(TestHeld.next(RESOURCE));
		try (Connection other = this.database.dataSource.getConnection();
				Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute(lock);
			assertThatExceptionOfType(AdmissionTimeoutException.class)
				.isThrownBy(() -> this.database.operations.enter(TestHeld.next(RESOURCE)));
			assertThatExceptionOfType(AdmissionTimeoutException.class).isThrownBy(() -> Operations.in(begun, () -> {
				this.database.writeInTransaction(1);
				return true;
			})).satisfies((ex) -> assertThat(ex.getWaited()).isGreaterThanOrEqualTo(Duration.ofSeconds(1)));
			statement.execute(unlock);
		}
		assertThat(this.database.balance()).isZero();
		this.database.operations.run(() -> this.database.write(2), TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(2);
	}

	String writingQuery() {
		return "UPDATE account SET balance = ? WHERE id = 'a' RETURNING balance";
	}

	@Test
	void whenClientHasSettingsOfItsOwnThenItsCopyOfTheTemplateIsFencedToo() throws Exception {
		JdbcClient client = this.database.wrap(JdbcClient.create(this.database.jdbc));
		OperationContext stale = this.database.operations.enter(TestHeld.next(RESOURCE));
		assertThat(Operations.in(stale,
				() -> client.sql("UPDATE account SET balance = :b WHERE id = 'a'")
					.withQueryTimeout(5)
					.param("b", 3)
					.update()))
			.isEqualTo(1);
		assertThat(Operations.in(stale,
				() -> client.sql("SELECT balance FROM account WHERE id = ?").param("a").query(Integer.class).single()))
			.isEqualTo(3);
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> Operations.in(stale,
				() -> client.sql("UPDATE account SET balance = :b WHERE id = 'a'")
					.withFetchSize(5)
					.param("b", 9)
					.update()));
		assertThat(this.database.balance()).isEqualTo(4);
	}

	@Test
	void case78WhenStreamIsPlainlyARead() throws Exception {
		this.database.operations.run(() -> {
			Stream<Integer> outside = this.database.jdbc.queryForStream("SELECT balance FROM account",
					(rows, row) -> rows.getInt(1));
			assertThat(outside.mapToInt(Integer::intValue).count()).isEqualTo(2);
			outside.close();
			this.database.transaction().executeWithoutResult((status) -> {
				try (Stream<Integer> inside = this.database.jdbc.queryForStream(writingQuery(),
						(rows, row) -> rows.getInt(1), 6)) {
					assertThat(inside).containsExactly(6);
				}
			});
		}, TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(6);
	}

	@Test
	void whenCallbackHasTheConnectionThenItCountsAsAWrite() throws Exception {
		ConnectionCallback<Integer> write = (connection) -> {
			assertThat(connection.getAutoCommit()).isFalse();
			return connection.createStatement().executeUpdate("UPDATE account SET balance = 8 WHERE id = 'a'");
		};
		OperationContext context = this.database.operations.enter(TestHeld.next(RESOURCE));
		assertThat(Operations.in(context, () -> this.database.jdbc.execute(write))).isEqualTo(1);
		this.database.takeOver(RESOURCE);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> Operations.in(context, () -> this.database.jdbc.execute(write)));
		assertThat(this.database.balance()).isEqualTo(9);
	}

	@Test
	void whenStatementFailsThenItsFailureArrivesUnchangedAndNothingIsApplied() {
		assertThatExceptionOfType(DuplicateKeyException.class).isThrownBy(() -> this.database.operations
			.run(() -> this.database.jdbc.batchUpdate("UPDATE account SET balance = 7",
					"INSERT INTO account VALUES ('a', 1)"), TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenTextEndsTheTransactionThenRefused() {
		for (String text : List.of("COMMIT", "rollback", "/* x */ Commit", "UPDATE account SET balance = 1; COMMIT")) {
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> this.database.operations.run(
						() -> this.database.transaction()
							.executeWithoutResult((status) -> this.database.jdbc.execute(text)),
						TestHeld.next(RESOURCE)));
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations
				.run(() -> this.database.jdbc.execute(text), TestHeld.next(RESOURCE)));
		}
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenWriteComesAfterTheCommitThenRefused() throws Exception {
		OperationContext context = this.database.operations.enter(TestHeld.next(RESOURCE));
		assertThatExceptionOfType(UnfencedWriteException.class)
			.isThrownBy(() -> Operations.in(context, () -> this.database.transaction().execute((status) -> {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThat(JdbcFenceTests.this.database.read()).isZero();
						JdbcFenceTests.this.database.newTransaction()
							.executeWithoutResult((own) -> JdbcFenceTests.this.database.write(1));
						JdbcFenceTests.this.database.write(2);
					}

				});
				return true;
			})));
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void whenManagerHasNoSynchronizationThenRefused() {
		JdbcTransactionManager manager = this.database.manage(new JdbcTransactionManager(this.database.dataSource));
		manager.setTransactionSynchronization(JdbcTransactionManager.SYNCHRONIZATION_NEVER);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> this.database.operations.run(
				() -> transaction
					.executeWithoutResult((status) -> this.database.raw.update("UPDATE account SET balance = 1")),
				TestHeld.next(RESOURCE)))
			.withMessageContaining("synchronization");
		transaction.executeWithoutResult((status) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.database.fence.inspect("withdraw", false)));
		assertThat(this.database.balance()).isZero();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	@Test
	void whenConnectionIsBoundWithoutATransactionThenStatementGetsItsOwn() throws Exception {
		this.database.operations.run(() -> this.database
			.transaction(TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.ISOLATION_DEFAULT)
			.executeWithoutResult((scope) -> {
				int seen = this.database.read();
				this.database.write(seen + 1);
				assertThat(this.database.balance()).isOne();
			}), TestHeld.next(RESOURCE));
	}

	@Test
	void whenTransactionWasBegunByAnUnknownManagerThenRefused() {
		TransactionTemplate unknown = new TransactionTemplate(new JdbcTransactionManager(this.database.dataSource));
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.database.operations
				.run(() -> unknown.executeWithoutResult((status) -> this.database.write(1)), TestHeld.next(RESOURCE)))
			.withMessageContaining("bean");
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenThereIsNoOperationThenWritesPassAreToldOrAreRefused() {
		this.database.write(1);
		assertThat(this.database.unfenced).isEmpty();
		FencedDatabase warn = new FencedDatabase(this.database.dataSource,
				FencedDatabase.settings(UnfencedWrites.WARN, JoinedTransactions.SAFE, Duration.ofMillis(300)));
		warn.write(warn.read() + 1);
		assertThat(warn.unfenced).hasSize(1);
		FencedDatabase reject = new FencedDatabase(this.database.dataSource,
				FencedDatabase.settings(UnfencedWrites.REJECT, JoinedTransactions.SAFE, Duration.ofMillis(300)));
		assertThat(reject.read()).isEqualTo(2);
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> reject.write(3));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> reject.writeInTransaction(3));
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void case30WhenTransactionIsOnAnotherDataSourceThenOwnHeldOneOrRefused() throws Exception {
		TransactionTemplate other = new TransactionTemplate(new JdbcTransactionManager(TestServers.newH2()));
		this.database.operations.run(() -> other.executeWithoutResult((status) -> this.database.write(1)),
				TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(1);
		FencedDatabase reject = new FencedDatabase(this.database.dataSource,
				FencedDatabase.settings(UnfencedWrites.REJECT, JoinedTransactions.SAFE, Duration.ofMillis(300)));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> reject.operations
			.run(() -> other.executeWithoutResult((status) -> reject.write(2)), TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isEqualTo(1);
	}

	@Test
	void whenAnotherTransactionIsActiveInsideTheJoinedOneThenRefusedAtEntry() {
		TransactionTemplate other = new TransactionTemplate(new JdbcTransactionManager(TestServers.newH2()));
		this.database.transaction()
			.executeWithoutResult((outer) -> other
				.executeWithoutResult((inner) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
					.isThrownBy(
							() -> this.database.operations.run(() -> this.database.write(1), TestHeld.next(RESOURCE)))
					.withMessageContaining("several DataSources")));
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void rule4WhenDataSourceHasOneConnectionOnlyThenClaimDoesNotCommitTheCallersWork() throws Exception {
		SingleConnectionDataSource single = new SingleConnectionDataSource(this.database.dataSource.getConnection(),
				true);
		FencedDatabase shared = new FencedDatabase(single,
				FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofMillis(300)));
		shared.transaction().executeWithoutResult((status) -> {
			shared.raw.update("UPDATE account SET balance = 9");
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> shared.operations.run(() -> shared.write(1), TestHeld.next(RESOURCE)))
				.withMessageContaining("a connection of its own");
			status.setRollbackOnly();
		});
		single.destroy();
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenTemplateUsesAnotherProxyOfTheDataSourceThenItsWritesAreRefused() {
		JdbcTemplate other = this.database.wrap(new JdbcTemplate(new DelegatingDataSource(this.database.dataSource)));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations
			.run(() -> other.update("UPDATE account SET balance = 1"), TestHeld.next(RESOURCE)));
		assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> this.database.operations.run(
				() -> this.database.transaction()
					.executeWithoutResult((status) -> other.update("UPDATE account SET balance = 1")),
				TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isZero();
	}

	@Test
	void whenCallerTransactionCompletesThenCallbackRunsOnce() {
		AtomicInteger completed = new AtomicInteger();
		this.database.transaction().executeWithoutResult((status) -> {
			CallerTransaction caller = this.database.fence.inspect("withdraw", false);
			assertThat(caller).isNotNull();
			caller.afterCompletion(completed::incrementAndGet);
			status.setRollbackOnly();
		});
		assertThat(completed).hasValue(1);
	}

	static void unchecked(Operations.Step step) {
		try {
			step.run();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
