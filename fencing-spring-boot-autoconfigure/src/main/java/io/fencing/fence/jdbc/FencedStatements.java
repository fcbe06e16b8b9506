package io.fencing.fence.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.RejectionReason;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.jdbc.DatabaseDialect;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * Stands in front of every statement that goes through a fenced template. It asks whether
 * the bound connection is held by the operation, not whether a transaction is active; a
 * statement outside of any transaction gets a held one of its own, unless it is plainly a
 * read. Thread-safe.
 */
final class FencedStatements {

	private final UnfencedWriteReporter reporter = new UnfencedWriteReporter();

	/**
	 * Send a statement.
	 * @param fence the fence of its data source
	 * @param dataSource the data source that the template was given
	 * @param statement the statement
	 * @param call sends it
	 * @return the result
	 * @throws Throwable what the call throws, unchanged
	 * @throws FencingException if the statement was refused
	 */
	@Nullable Object execute(JdbcFence fence, DataSource dataSource, TemplateStatement statement, StatementCall call)
			throws Throwable {
		OperationContext context = OperationContext.get();
		if (context == null) {
			checkOutside(fence, statement);
			return call.proceed();
		}
		if (!context.isEnforced()) {
			return call.proceed();
		}
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
		context.meetFence();
		ConnectionHolder holder = transaction(fence);
		if (holder != null) {
			return executeInTransaction(fence, context, holder, statement, call);
		}
		if (statement.isPlainRead(fence) || statement.isUnfenced(fence)) {
			HoldingTransactionListener.checkHeld(context, fence);
			if (!statement.isPlainRead(fence)) {
				fence.getListeners().onUnfenced(context.getOperation(), fence.getStorage());
			}
			return call.proceed();
		}
		checkCanBeHeld(fence, dataSource, context, statement);
		return executeInOwnTransaction(fence, context, statement, call);
	}

	private void checkOutside(JdbcFence fence, TemplateStatement statement) {
		UnfencedWrites policy = fence.getSettings().unfencedWrites();
		if (policy == UnfencedWrites.ALLOW || statement.isPlainRead(fence) || statement.isUnfenced(fence)) {
			return;
		}
		fence.getListeners().onUnfenced(null, fence.getStorage());
		if (policy == UnfencedWrites.REJECT) {
			throw new UnfencedWriteException(null,
					"a write to storage '" + fence.getStorage()
							+ "' has no token, and 'fencing.unfenced-writes' is 'reject'",
					"make it in a fenced operation");
		}
		this.reporter.report(fence.getStorage());
	}

	private static @Nullable ConnectionHolder transaction(JdbcFence fence) {
		try {
			return BoundTransactions.find(fence.getDataSource());
		}
		catch (SQLException ex) {
			throw fence.translate("check", ex);
		}
	}

	private static @Nullable Object executeInTransaction(JdbcFence fence, OperationContext context,
			ConnectionHolder holder, TemplateStatement statement, StatementCall call) throws Throwable {
		TransactionHold hold = TransactionHold.find(holder);
		if (hold == null) {
			fence.rejected(context, RejectionReason.UNFENCED);
			throw context.refuse(new InvalidFencedOperationException(context.getOperation(), null,
					"a statement runs in a transaction on storage '" + fence.getStorage()
							+ "' that was begun outside of the operation, or by a transaction manager that is no bean",
					"begin it inside the operation, with a transaction manager that is a bean"));
		}
		hold.check(context);
		if (statement.endsTransaction(fence)) {
			throw unfenced(fence, context,
					"a statement would end the transaction that holds storage '" + fence.getStorage() + "'",
					"make it outside of the operation");
		}
		try {
			return call.proceed();
		}
		catch (Exception ex) {
			if (replacesTransaction(fence, ex)) {
				hold.replace();
			}
			throw ex;
		}
		finally {
			if (statement.mayUndoHold()) {
				hold.undone();
			}
		}
	}

	private static boolean replacesTransaction(JdbcFence fence, Throwable failure) {
		DatabaseDialect dialect = fence.getDialect();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (dialect != null && cause instanceof SQLException sql && dialect.replacesTransaction(sql)) {
				return true;
			}
		}
		return false;
	}

	private static void checkCanBeHeld(JdbcFence fence, DataSource dataSource, OperationContext context,
			TemplateStatement statement) {
		String storage = "storage '" + fence.getStorage() + "'";
		if (ManagedDataSources.unwrap(dataSource) != fence.getDataSource()) {
			throw unfenced(fence, context,
					"a template uses " + storage + " through another DataSource object than its transaction manager",
					"give both the same one");
		}
		if (statement.isStream()) {
			throw unfenced(fence, context,
					"a stream outside of a transaction may write to " + storage + " and outlives every hold",
					"open it in a transaction, or use a statement that is plainly a SELECT");
		}
		if (statement.endsTransaction(fence) || statement.refusesTransaction(fence)) {
			throw unfenced(fence, context, "a statement for " + storage + " cannot run in a transaction that is held",
					"make it outside of the operation, or name its beginning in 'fencing.jdbc.unfenced-statements'");
		}
		if (TransactionSynchronizationManager.isActualTransactionActive()
				&& fence.getSettings().unfencedWrites() == UnfencedWrites.REJECT) {
			throw unfenced(fence, context, "a write to " + storage + " is outside of the transaction that is active",
					"begin a transaction on its DataSource");
		}
	}

	private static UnfencedWriteException unfenced(JdbcFence fence, OperationContext context, String problem,
			String remedy) {
		fence.rejected(context, RejectionReason.UNFENCED);
		return context.refuse(new UnfencedWriteException(context.getOperation(), problem, remedy));
	}

	private static @Nullable Object executeInOwnTransaction(JdbcFence fence, OperationContext context,
			TemplateStatement statement, StatementCall call) throws Throwable {
		return fence.ownTransactions().execute(() -> {
			ConnectionHolder holder = transaction(fence);
			Assert.state(holder != null, "A transaction that was just begun is bound");
			return executeInTransaction(fence, context, holder, statement, call);
		});
	}

	/**
	 * Sends a statement.
	 */
	@FunctionalInterface
	interface StatementCall {

		/**
		 * Send it.
		 * @return the result
		 * @throws Throwable if it fails
		 */
		@Nullable Object proceed() throws Throwable;

	}

}
