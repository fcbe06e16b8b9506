package io.fencing.fence.jdbc;

import java.util.List;
import java.util.Set;

import io.fencing.fence.jdbc.FencedStatements.StatementCall;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;

/**
 * Short held transactions around single statements. Thread-safe.
 */
final class OwnTransactions {

	private final PlatformTransactionManager manager;

	OwnTransactions(JdbcFence fence) {
		JdbcTransactionManager manager = new JdbcTransactionManager(fence.getDataSource());
		JdbcFences itself = new JdbcFences(fence.getSettings(), fence.getListeners(), () -> List.of(fence), Set::of);
		manager.setTransactionExecutionListeners(List.of(new HoldingTransactionListener(manager, () -> itself)));
		this.manager = manager;
	}

	/**
	 * Send a statement in a transaction of its own.
	 * @param call sends it
	 * @return the result
	 * @throws Throwable what the call throws, unchanged
	 */
	@Nullable Object execute(StatementCall call) throws Throwable {
		TransactionStatus transaction = this.manager.getTransaction(null);
		Object result;
		try {
			result = call.proceed();
		}
		catch (Throwable ex) {
			rollback(transaction, ex);
			throw ex;
		}
		this.manager.commit(transaction);
		return result;
	}

	private void rollback(TransactionStatus transaction, Throwable cause) {
		try {
			this.manager.rollback(transaction);
		}
		catch (RuntimeException ex) {
			cause.addSuppressed(ex);
		}
	}

}
