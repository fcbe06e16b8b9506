package io.fencing.fence.jdbc;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import io.fencing.fence.Fence;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of docs/design.md, SQL side: each scenario loses no update with our fence,
 * and loses one with a fence that leaves just that rule out.
 */
abstract class FencingRulesTests {

	private static final String RESOURCE = "account:a";

	private FencedDatabase database;

	private final List<Worker> workers = new ArrayList<>();

	private Fence fence;

	private JdbcTemplate jdbc;

	private TransactionTemplate transaction;

	abstract DataSource newDataSource();

	@BeforeEach
	void useOurFence() {
		this.database = FencedDatabase.create(newDataSource());
		this.fence = this.database.fence;
		this.jdbc = this.database.jdbc;
		this.transaction = this.database.transaction();
	}

	private void without(Rule rule) {
		DataSource dataSource = this.database.dataSource;
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		NaiveFence naive = new NaiveFence(dataSource, this.database.newTransaction(), rule);
		manager.setTransactionExecutionListeners(List.of(naive));
		this.fence = naive;
		this.jdbc = this.database.raw;
		this.transaction = new TransactionTemplate(manager);
	}

	private Worker worker() {
		Worker worker = new Worker(this.fence, this.jdbc, this.transaction);
		this.workers.add(worker);
		return worker;
	}

	private boolean loses() {
		int acknowledged = this.workers.stream().mapToInt(Worker::getAcknowledged).sum();
		return acknowledged != this.database.balance();
	}

	/** Another worker, on its own thread, as far as it gets. */
	private void takeOver() {
		Worker next = worker();
		Operations.elsewhere(() -> {
			next.enter(TestHeld.next(RESOURCE));
			next.read();
			next.write();
			return true;
		});
	}

	@Nested
	class Rule1ClaimBeforeTheFirstRead {

		private void run() {
			Worker older = worker();
			Worker newer = worker();
			TestHeld first = TestHeld.next(RESOURCE);
			older.enter(first);
			older.read();
			newer.enter(TestHeld.next(RESOURCE));
			newer.read();
			older.write();
			newer.write();
		}

		@Test
		void whenClaimedAtEntryThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
			assertThat(FencingRulesTests.this.database.balance()).isOne();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.CLAIM_AT_ENTRY);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule2AFenceStoresTokenAndOwner {

		private void run() {
			Worker one = worker();
			Worker other = worker();
			TestHeld first = TestHeld.next(RESOURCE);
			one.enter(first);
			one.read();
			other.enter(TestHeld.of(RESOURCE, first.getToken().value()));
			other.read();
			one.write();
			other.write();
		}

		@Test
		void whenOwnersAreComparedThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
			assertThat(FencingRulesTests.this.database.balance()).isOne();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.COMPARE_OWNERS);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule3AfterTheClaimDemandEquality {

		private void run() {
			Worker older = worker();
			Worker newer = worker();
			older.enter(TestHeld.next(RESOURCE));
			older.read();
			newer.enter(TestHeld.next(RESOURCE));
			newer.read();
			FencingRulesTests.this.database.raw.update("DELETE FROM fencing_fence");
			older.write();
			newer.write();
		}

		@Test
		void whenEqualityIsDemandedThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.NEVER_RAISE_AGAIN);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule4CheckAndWriteAreOneAtomicStep {

		private void run() {
			Worker older = worker();
			older.enter(TestHeld.next(RESOURCE));
			older.read();
			// between the check, made as the transaction begins, and the write
			Worker newer = worker();
			older.write(() -> Operations.elsewhere(() -> {
				newer.enter(TestHeld.next(RESOURCE));
				newer.read();
				return true;
			}));
			newer.write();
		}

		@Test
		void whenTheRowIsLockedToTheCommitThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
			assertThat(FencingRulesTests.this.database.balance()).isOne();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.LOCK_TO_COMMIT);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule4EveryNewTransactionTakesItsOwnHold {

		private void run() {
			Worker older = worker();
			older.enter(TestHeld.next(RESOURCE));
			older.read();
			TransactionTemplate outer = FencingRulesTests.this.transaction;
			TransactionTemplate inner = new TransactionTemplate(outer.getTransactionManager());
			inner.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
			Worker nested = worker();
			older.step(() -> outer.execute((status) -> {
				loseLock();
				takeOver();
				nested.enterAs(older, inner);
				nested.write();
				status.setRollbackOnly();
				return true;
			}));
		}

		private void loseLock() {
			try {
				DataSourceUtils.getConnection(FencingRulesTests.this.database.dataSource).rollback();
			}
			catch (java.sql.SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Test
		void whenEachTransactionHoldsThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
			assertThat(FencingRulesTests.this.database.balance()).isOne();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.HOLD_IN_EACH_TRANSACTION);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule4AClaimIsItsOwnCommittedTransaction {

		private void run() {
			Worker newer = worker();
			Worker older = worker();
			older.enter(TestHeld.next(RESOURCE));
			older.read();
			TestHeld next = TestHeld.next(RESOURCE);
			FencingRulesTests.this.transaction.executeWithoutResult((status) -> {
				newer.enter(next);
				newer.read();
				// as a savepoint or a caught failure of the caller does
				status.setRollbackOnly();
			});
			older.write();
			newer.write();
		}

		@Test
		void whenTheClaimOutlivesARollbackThenNoUpdateIsLost() {
			run();
			assertThat(loses()).isFalse();
		}

		@Test
		void whenRuleIsOffThenTheOlderHolderWritesAgain() {
			without(Rule.CLAIM_IN_OWN_TRANSACTION);
			run();
			// the claim was taken back with the rollback: the older one got past it
			assertThat(FencingRulesTests.this.workers.get(1).getAcknowledged()).isOne();
		}

	}

	@Nested
	class Rule9LostStopsNewTransactionsUnsent {

		private int begun(Rule off) {
			if (off != null) {
				without(off);
			}
			TestHeld held = TestHeld.next(RESOURCE);
			Worker worker = worker();
			worker.enter(held);
			worker.read();
			held.lose();
			worker.write();
			return worker.getAcknowledged();
		}

		@Test
		void whenLeaseIsLostThenNewTransactionsAreStopped() {
			assertThat(begun(null)).isZero();
			assertThat(FencingRulesTests.this.database.rejections).containsExactly(io.fencing.RejectionReason.LOST);
		}

		@Test
		void whenRuleIsOffThenTheyAreSent() {
			assertThat(begun(Rule.STOP_WHEN_LOST)).isOne();
		}

		@Test
		void whenTransactionHoldsAlreadyThenItMayFinish() {
			TestHeld held = TestHeld.next(RESOURCE);
			Worker worker = worker();
			worker.enter(held);
			worker.read();
			worker.write(held::lose);
			assertThat(worker.getAcknowledged()).isOne();
			assertThat(loses()).isFalse();
		}

		@Test
		void whenLeaseIsLostThenStatementsOutsideOfTransactionsAreStopped() {
			TestHeld held = TestHeld.next(RESOURCE);
			Worker worker = worker();
			worker.enter(held);
			held.lose();
			assertThat(worker.step(() -> FencedDatabase.read(FencingRulesTests.this.jdbc) == 0)).isFalse();
		}

	}

	@Nested
	class Rule10AWriteHoldsAllResourcesOnTheStack {

		private void run() {
			Worker outer = worker();
			outer.enter(TestHeld.next(RESOURCE));
			Worker inner = worker();
			inner.enter(outer, TestHeld.next("account:b"));
			inner.read();
			takeOver();
			inner.write();
		}

		@Test
		void whenOuterResourceIsTakenOverThenNestedWriteIsRefused() {
			run();
			assertThat(loses()).isFalse();
			assertThat(FencingRulesTests.this.database.balance()).isOne();
		}

		@Test
		void whenRuleIsOffThenAnUpdateIsLost() {
			without(Rule.HOLD_ALL_ON_STACK);
			run();
			assertThat(loses()).isTrue();
		}

	}

	@Nested
	class Rule11NoRefusalIsSilent {

		private void run() {
			Worker older = worker();
			older.enter(TestHeld.next(RESOURCE));
			older.read();
			takeOver();
			older.writeSwallowing();
		}

		@Test
		void whenBodySwallowsTheRefusalThenItIsNoSuccess() {
			run();
			assertThat(loses()).isFalse();
		}

		@Test
		void whenRuleIsOffThenAnUpdateThatWasNotAppliedIsASuccess() {
			without(Rule.RECORD_REFUSALS);
			run();
			assertThat(loses()).isTrue();
		}

	}

}
