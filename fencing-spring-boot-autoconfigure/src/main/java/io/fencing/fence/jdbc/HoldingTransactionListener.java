package io.fencing.fence.jdbc;

import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Takes a hold in every new transaction that an operation begins on a fenced data source,
 * whichever API then uses it. One instance for each transaction manager. Thread-safe.
 *
 * <p>
 * Where refusals are thrown: a lost lease in {@code beforeBegin}, before there is a
 * connection; everything else in {@code beforeCommit}, since an exception in
 * {@code afterBegin} would leak the connection.
 */
final class HoldingTransactionListener implements TransactionExecutionListener {

	// looked up at the first transaction: until then managers may be given another one
	private final SingletonSupplier<DataSource> dataSource;

	private final SingletonSupplier<JdbcFence> fence;

	HoldingTransactionListener(TransactionManager manager, Supplier<JdbcFences> fences) {
		this.dataSource = SingletonSupplier.ofNullable(() -> ManagedDataSources.find(manager));
		this.fence = SingletonSupplier.ofNullable(() -> fences.get().find(this.dataSource.get()));
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		OperationContext context = OperationContext.getEnforced();
		JdbcFence fence = (context != null && !transaction.isNested()) ? fence() : null;
		if (context != null && fence != null) {
			checkHeld(context, fence);
			checkOnlyOne(context, fence);
		}
	}

	private static void checkOnlyOne(OperationContext context, JdbcFence fence) {
		if (!context.beginTransaction()) {
			fence.rejected(context, RejectionReason.UNFENCED);
			throw context.refuse(new InvalidFencedOperationException(context.getOperation(), null,
					"a second transaction, on storage '" + fence.getStorage()
							+ "', would commit apart from the record of this operation, and a retry would repeat it",
					"do its work in the transaction of the operation (propagation REQUIRED), before the operation or"
							+ " after its commit"));
		}
	}

	static void checkHeld(OperationContext context, JdbcFence fence) {
		try {
			context.checkHeld();
		}
		catch (LeaseLostException ex) {
			fence.rejected(context, RejectionReason.LOST);
			throw context.refuse(ex);
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		OperationContext context = OperationContext.getEnforced();
		if (context == null || transaction.isNested()) {
			return;
		}
		if (beginFailure != null) {
			endTransaction();
			return;
		}
		JdbcFence fence = fence();
		if (fence == null) {
			return;
		}
		ConnectionHolder holder = holder(fence.getDataSource());
		if (holder != null) {
			TransactionHold.begin(fence, holder, context, transaction.isReadOnly());
		}
		else {
			refuse(context, fence);
		}
	}

	private static void refuse(OperationContext context, JdbcFence fence) {
		fence.rejected(context, RejectionReason.UNFENCED);
		InvalidFencedOperationException refusal = context
			.refuse(new InvalidFencedOperationException(context.getOperation(), null,
					"a transaction on storage '" + fence.getStorage()
							+ "' cannot be fenced, since it exposes no JDBC connection",
					"give its transaction manager a dialect that does, such as that of the HibernateJpaVendorAdapter"));
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw refusal;
				}

			});
		}
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		ConnectionHolder holder = transaction.isNested() ? null : holder();
		if (holder != null) {
			TransactionHold hold = TransactionHold.find(holder);
			if (hold != null) {
				hold.verify(true);
				hold.complete();
			}
			else {
				checkNeedsNoHold();
				CompletingTransactions.addUnheld(holder);
			}
			endTransaction();
		}
	}

	private void checkNeedsNoHold() {
		OperationContext context = OperationContext.getEnforced();
		JdbcFence fence = (context != null) ? fence() : null;
		if (context != null && fence != null) {
			fence.rejected(context, RejectionReason.UNFENCED);
			throw context.refuse(new InvalidFencedOperationException(context.getOperation(), null,
					"a transaction on storage '" + fence.getStorage()
							+ "' has no hold: it was begun outside of the operation, or another transaction manager "
							+ "has ended it on the same connection",
					"begin it inside the operation, and use one transaction manager for one DataSource"));
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		completed(transaction);
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		if (!transaction.isNested()) {
			endTransaction();
		}
		completed(transaction);
	}

	// those of other managers were not counted
	private void endTransaction() {
		OperationContext context = OperationContext.getEnforced();
		if (context != null && fence() != null) {
			context.endTransaction();
		}
	}

	private void completed(TransactionExecution transaction) {
		ConnectionHolder holder = transaction.isNested() ? null : holder();
		if (holder != null) {
			CompletingTransactions.remove(holder);
		}
	}

	private @Nullable JdbcFence fence() {
		return this.fence.get();
	}

	private @Nullable ConnectionHolder holder() {
		DataSource dataSource = this.dataSource.get();
		return (dataSource != null) ? holder(dataSource) : null;
	}

	private static @Nullable ConnectionHolder holder(DataSource dataSource) {
		return (TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder) ? holder
				: null;
	}

}
