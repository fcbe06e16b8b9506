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
import org.springframework.util.ConcurrentLruCache;

/**
 * Stands in front of every statement that goes through a fenced template. It asks whether
 * the bound connection is held by the operation, not whether a transaction is active; a
 * statement outside of any transaction gets a held one of its own, unless it is plainly a
 * read. Thread-safe.
 */
final class FencedStatements {

	private static final int LONGEST_CACHED_TEXT = 4096;

	private final UnfencedWriteGuard outside = new UnfencedWriteGuard();

	private final ConcurrentLruCache<String, StatementText> texts = new ConcurrentLruCache<>(512, StatementText::new);

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText text(String sql) {
		return (sql.length() > LONGEST_CACHED_TEXT) ? new StatementText(sql) : this.texts.get(sql);
	}

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
			this.outside.check(fence, statement);
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
		boolean sameDataSource = ManagedDataSources.unwrap(dataSource) == fence.getDataSource();
		ConnectionHolder holder = sameDataSource ? transaction(fence) : null;
		boolean completing = holder != null && CompletingTransactions.contains(holder);
		if (holder != null && !completing) {
			return executeInTransaction(fence, context, holder, statement, call);
		}
		if (passesWithoutHold(fence, context, statement, completing)) {
			HoldingTransactionListener.checkHeld(context, fence);
			return call.proceed();
		}
		checkCanBeHeld(fence, context, statement, sameDataSource, completing);
		return fence.ownTransactions()
			.execute(() -> executeInTransaction(fence, context, begun(fence), statement, call));
	}

	private static ConnectionHolder begun(JdbcFence fence) {
		ConnectionHolder holder = transaction(fence);
		Assert.state(holder != null, "A transaction that was just begun is bound");
		return holder;
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
			throw unfenced(fence, context, "a statement would end the transaction that holds",
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

	private static boolean passesWithoutHold(JdbcFence fence, OperationContext context, TemplateStatement statement,
			boolean completing) {
		if (statement.isPlainRead(fence)) {
			return true;
		}
		if (!completing && statement.isUnfenced(fence)) {
			fence.getListeners().onUnfenced(context.getOperation(), fence.getStorage());
			return true;
		}
		return false;
	}

	private static void checkCanBeHeld(JdbcFence fence, OperationContext context, TemplateStatement statement,
			boolean sameDataSource, boolean completing) {
		if (!sameDataSource) {
			throw unfenced(fence, context, "a template uses another DataSource object than the transactions on",
					"give both the same one");
		}
		if (completing) {
			throw unfenced(fence, context, "a write comes after the commit of its transaction on",
					"make it in a new transaction");
		}
		if (statement.isStream()) {
			throw unfenced(fence, context, "a stream that outlives every hold may write to",
					"open it in a transaction, or use a statement that is plainly a SELECT");
		}
		if (statement.endsTransaction(fence) || statement.refusesTransaction(fence)) {
			throw unfenced(fence, context, "a statement cannot run in a transaction that holds",
					"make it outside of the operation, or name its beginning in 'fencing.jdbc.unfenced-statements'");
		}
		if (TransactionSynchronizationManager.isActualTransactionActive()
				&& fence.getSettings().unfencedWrites() == UnfencedWrites.REJECT) {
			throw unfenced(fence, context, "the active transaction is not on the DataSource of",
					"begin a transaction on the DataSource that is written to");
		}
	}

	private static UnfencedWriteException unfenced(JdbcFence fence, OperationContext context, String problem,
			String remedy) {
		fence.rejected(context, RejectionReason.UNFENCED);
		return context.refuse(new UnfencedWriteException(context.getOperation(),
				problem + " storage '" + fence.getStorage() + "'", remedy));
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
