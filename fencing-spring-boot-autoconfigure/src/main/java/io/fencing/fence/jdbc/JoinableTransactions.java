package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.fencing.InvalidFencedOperationException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence.CallerTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Looks at the entry of an operation at what the thread has open on the storage, and
 * refuses what would let the operation read data older than its lease: the snapshot of a
 * transaction, or entities that a persistence context already manages. Thread-safe.
 */
final class JoinableTransactions {

	private static final String REMEDY = "call the operation outermost, give its method its own transaction with "
			+ "'propagation = REQUIRES_NEW'";

	private final JdbcFence fence;

	JoinableTransactions(JdbcFence fence) {
		this.fence = fence;
	}

	/**
	 * Look at what is open.
	 * @param operation the name of the operation
	 * @param ownTransaction whether it runs outside the active transaction
	 * @return the transaction to join, {@code null} if there is none
	 * @throws InvalidFencedOperationException if the operation would read old data
	 */
	@Nullable CallerTransaction inspect(String operation, boolean ownTransaction) {
		ConnectionHolder holder = active();
		if (holder != null && ownTransaction) {
			return null;
		}
		MyBatisSessions.forgetReads();
		String problem = PersistenceContexts.findProblem(this.fence.getDataSource(), holder != null);
		if (problem != null) {
			throw refuse(operation, problem, REMEDY + ", or clear the persistence context before the call; "
					+ "for web requests set 'spring.jpa.open-in-view=false'");
		}
		if (holder == null) {
			checkScope(operation);
			return null;
		}
		if (CompletingTransactions.contains(holder, TransactionHold.find(holder))) {
			throw refuse(operation,
					"the transaction around it is already being committed, or its manager has synchronization switched off",
					REMEDY);
		}
		if (isWithinAnother(holder)) {
			throw refuse(operation,
					"transactions on several DataSources are active around it, and it cannot tell which ends last",
					REMEDY);
		}
		if (this.fence.getSettings().joinedTransactions() == JoinedTransactions.REJECT) {
			throw refuse(operation, "a transaction is active around it and 'fencing.joined-transactions' is 'reject'",
					REMEDY);
		}
		if (mayShowOldData(holder)) {
			throw refuse(operation, "the snapshot of the transaction around it may be older than the operation's lease",
					REMEDY + ", or run the transaction around it at READ_COMMITTED");
		}
		return new JoinedTransaction(holder);
	}

	// synchronizations belong to the transaction begun last, whichever is joined
	private boolean isWithinAnother(ConnectionHolder joined) {
		for (Object bound : TransactionSynchronizationManager.getResourceMap().values()) {
			if (bound instanceof ConnectionHolder other && other != joined && isInTransaction(other)) {
				return true;
			}
		}
		return false;
	}

	private boolean isInTransaction(ConnectionHolder holder) {
		try {
			return holder.getConnectionHandle() != null && !holder.getConnection().getAutoCommit();
		}
		catch (SQLException ex) {
			throw this.fence.translate("inspection", ex);
		}
	}

	private void checkScope(String operation) {
		try {
			ConnectionHolder holder = BoundTransactions.findScopeOnly(this.fence.getDataSource());
			if (holder != null && mayShowOldData(holder)) {
				throw refuse(operation,
						"the snapshot of the connection bound around it, which is not in auto-commit mode, may be older "
								+ "than the operation's lease",
						"call the operation outermost, or let the pool use auto-commit or READ_COMMITTED");
			}
		}
		catch (SQLException ex) {
			throw this.fence.translate("inspection", ex);
		}
	}

	private @Nullable ConnectionHolder active() {
		try {
			return BoundTransactions.find(this.fence.getDataSource());
		}
		catch (SQLException ex) {
			throw this.fence.translate("inspection", ex);
		}
	}

	private boolean mayShowOldData(ConnectionHolder holder) {
		try {
			return holder.getConnection().getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
		}
		catch (SQLException ex) {
			throw this.fence.translate("inspection", ex);
		}
	}

	private InvalidFencedOperationException refuse(String operation, String problem, String remedy) {
		return new InvalidFencedOperationException(operation, null,
				problem + " (storage '" + this.fence.getStorage() + "')", remedy);
	}

	/**
	 * A transaction that was there before the operation.
	 */
	private final class JoinedTransaction implements CallerTransaction {

		private final ConnectionHolder holder;

		JoinedTransaction(ConnectionHolder holder) {
			this.holder = holder;
		}

		@Override
		public void hold(OperationContext context) {
			TransactionHold.join(JoinableTransactions.this.fence, this.holder, context);
		}

		@Override
		public void afterCompletion(Runnable callback) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					callback.run();
				}

			});
		}

	}

}
