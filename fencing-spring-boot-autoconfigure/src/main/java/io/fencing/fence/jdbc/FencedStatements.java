package io.fencing.fence.jdbc;

import java.sql.SQLException;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.RejectionReason;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.jdbc.DatabaseDialect;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
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

	private final Supplier<JdbcFences> fences;

	private final UnfencedWriteGuard unfenced = new UnfencedWriteGuard();

	private final WatchedClasses classes = new WatchedClasses();

	/**
	 * Create an instance.
	 * @param fences gives the fences; called at the first statement
	 */
	FencedStatements(Supplier<JdbcFences> fences) {
		this.fences = fences;
	}

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText text(String sql) {
		return this.classes.read(sql);
	}

	/**
	 * Let a callback that gets the connection outside of any operation go by what it
	 * sends there: it may only read, or look at the metadata.
	 * @param <T> the type of the result
	 * @param dataSource the data source that the template was given
	 * @param callback the callback
	 * @return the callback to use instead
	 */
	<T extends @Nullable Object> ConnectionCallback<T> watch(DataSource dataSource, ConnectionCallback<T> callback) {
		JdbcFences fences = this.fences.get();
		if (fences.passEverything()) {
			return callback;
		}
		return (connection) -> callback.doInConnection(this.classes.watch(connection,
				(statement) -> checkOutside(fences.findForStatement(dataSource), statement.get())));
	}

	private void checkOutside(@Nullable JdbcFence fence, TemplateStatement statement) {
		if (fence != null) {
			this.unfenced.check(fence, statement);
		}
	}

	/**
	 * Send a statement.
	 * @param dataSource the data source that the template was given
	 * @param statement tells the statement
	 * @param call sends it
	 * @return the result
	 * @throws Throwable what the call throws, unchanged
	 * @throws FencingException if the statement was refused
	 */
	@Nullable Object execute(DataSource dataSource, Supplier<TemplateStatement> statement, StatementCall call) throws Throwable {
		JdbcFences fences = this.fences.get();
		if (fences.passEverything()) {
			return call.proceed();
		}
		OperationContext context = OperationContext.get();
		DataSource unwrapped = ManagedDataSources.unwrap(dataSource);
		JdbcFence fence = fences.findForStatement(unwrapped);
		if (context == null) {
			checkOutside(fence, statement.get());
			return call.proceed();
		}
		if (!context.isEnforced()) {
			return call.proceed();
		}
		if (fence != null) {
			return execute(fence, context, unwrapped == fence.getDataSource(), statement.get(), call);
		}
		if (fences.isExcluded(unwrapped) || !this.unfenced.checkInside(fences, null, context, statement.get())) {
			// a callback may still write to it
			return call.proceed();
		}
		try (OwnStatements.Scope told = OwnStatements.open(unwrapped)) {
			return call.proceed();
		}
	}

	private static @Nullable Object execute(JdbcFence fence, OperationContext context, boolean sameDataSource,
			TemplateStatement statement, StatementCall call) throws Throwable {
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
		context.meetFence();
		ConnectionHolder holder = sameDataSource ? transaction(fence) : null;
		TransactionHold hold = (holder != null) ? TransactionHold.find(holder) : null;
		boolean completing = holder != null && CompletingTransactions.contains(holder, hold);
		if (holder != null && !completing) {
			return executeInTransaction(fence, context, hold, statement, call);
		}
		if (passesWithoutHold(fence, context, statement, completing)) {
			HoldingTransactionListener.checkHeld(context, fence);
			return call.proceed();
		}
		checkCanBeHeld(fence, context, statement, sameDataSource, completing);
		return fence.ownTransactions()
			.execute(() -> executeInTransaction(fence, context, begun(fence), statement, call));
	}

	private static @Nullable TransactionHold begun(JdbcFence fence) {
		ConnectionHolder holder = transaction(fence);
		Assert.state(holder != null, "A transaction that was just begun is bound");
		return TransactionHold.find(holder);
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
			@Nullable TransactionHold hold, TemplateStatement statement, StatementCall call) throws Throwable {
		if (hold == null) {
			fence.rejected(context, RejectionReason.UNFENCED);
			throw context.refuse(new InvalidFencedOperationException(context.getOperation(), null,
					"a statement runs in a transaction on storage '" + fence.getStorage()
							+ "' that was begun outside of the operation, or by a transaction manager that is no bean, or "
							+ "by a read in the transaction of another DataSource, without auto-commit",
					"begin it inside the operation, with a transaction manager that is a bean"));
		}
		hold.check(context);
		if (statement.endsTransaction(fence)) {
			throw endsHold(fence, context);
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
			if (statement.mayUndoHold(fence)) {
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
		if (statement.isPlainRead(fence.getSettings())) {
			return true;
		}
		if (!completing && statement.isUnfenced(fence.getSettings())) {
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

	/**
	 * Refuse a statement that ends a transaction which holds.
	 * @param fence the fence
	 * @param context the operation
	 * @return the refusal, recorded
	 */
	static UnfencedWriteException endsHold(JdbcFence fence, OperationContext context) {
		return unfenced(fence, context, "a statement would end the transaction that holds",
				"make it outside of the operation");
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
