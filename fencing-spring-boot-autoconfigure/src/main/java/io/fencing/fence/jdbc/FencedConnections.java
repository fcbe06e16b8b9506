package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import io.fencing.fence.jdbc.Watched.Watcher;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Makes connections that look at each text sent inside an operation: a write on one that
 * does not hold is told, or refused, a read in a read-only scope without transaction
 * shows what the operation has claimed, and nothing but its manager ends a transaction
 * that holds. Asks for the fences at the first text, since connections are taken while
 * beans are still being made. Thread-safe.
 */
final class FencedConnections {

	private final Supplier<JdbcFences> fences;

	private final UnfencedWriteGuard guard = new UnfencedWriteGuard();

	private final WatchedClasses classes = new WatchedClasses();

	FencedConnections(Supplier<JdbcFences> fences) {
		this.fences = fences;
	}

	/**
	 * Wrap a connection.
	 * @param connection the connection
	 * @param dataSource where it comes from, unwrapped
	 * @return the connection for the operation
	 */
	Connection wrap(Connection connection, DataSource dataSource) {
		return this.classes.watch(connection, new OperationWatcher(connection, dataSource));
	}

	/**
	 * Looks at one connection.
	 */
	private final class OperationWatcher implements Watcher {

		private final Connection connection;

		private final DataSource dataSource;

		// taken or used in a read-only scope, so that it may lead to a replica
		private boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();

		private @Nullable OperationContext shown;

		// told by the statements that took the hold
		private @Nullable ConnectionHolder transaction;

		OperationWatcher(Connection connection, DataSource dataSource) {
			this.connection = connection;
			this.dataSource = dataSource;
		}

		@Override
		public void beforeHold(ConnectionHolder transaction) {
			this.transaction = transaction;
		}

		@Override
		public void beforeStatement(Supplier<TemplateStatement> statement) {
			OwnStatements.Mark own = OwnStatements.current();
			if (own != null && own.transaction() != null) {
				this.transaction = own.transaction();
			}
			OperationContext context = (own == null || !own.covers(this.dataSource)) ? OperationContext.getEnforced()
					: null;
			if (context == null) {
				return;
			}
			TransactionHold hold = findHold(context);
			if (hold == null) {
				checkUnheld(context, statement.get());
			}
			else {
				checkHeld(context, hold, statement.get());
			}
		}

		private static void checkHeld(OperationContext context, TransactionHold hold, TemplateStatement statement) {
			if (statement.endsTransaction(hold.getFence())) {
				throw FencedStatements.endsHold(hold.getFence(), context);
			}
			if (statement.mayReplaceTransaction(hold.getFence())) {
				// nothing stands between it and the next one
				hold.check(context);
			}
			if (statement.mayUndoHold(hold.getFence())) {
				hold.undone();
			}
		}

		private void checkUnheld(OperationContext context, TemplateStatement statement) {
			JdbcFences fences = FencedConnections.this.fences.get();
			if (fences.isExcluded(this.dataSource)) {
				return;
			}
			JdbcFence fence = fences.findForStatement(this.dataSource);
			FencedConnections.this.guard.checkInside(fences, fence, context, statement);
			this.readOnly |= TransactionSynchronizationManager.isCurrentTransactionReadOnly();
			if (fence != null && (this.readOnly || fence.isReplica()) && this.shown != context) {
				context.meetFence();
				fence.hold().checkShown(context, this.connection);
				this.shown = context;
			}
		}

		@Override
		public void beforeCommit() {
			OperationContext context = OperationContext.getEnforced();
			TransactionHold hold = (context != null) ? findHold(context) : null;
			if (context != null && hold != null && !hold.isCompleting()) {
				throw FencedStatements.endsHold(hold.getFence(), context);
			}
		}

		@Override
		public void beforeRollback() {
			OperationContext context = OperationContext.getEnforced();
			TransactionHold hold = (context != null) ? findHold(context) : null;
			if (hold != null && !hold.isCompleting()) {
				hold.replace();
			}
		}

		private @Nullable TransactionHold findHold(OperationContext context) {
			TransactionHold hold = (this.transaction != null) ? TransactionHold.find(this.transaction) : null;
			return (hold != null && hold.protects(context)) ? hold : null;
		}

	}

}
