package io.fencing.fence.redis;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Transactions of nothing, with the callbacks that Spring Data Redis waits for.
 */
final class NoTransactions extends AbstractPlatformTransactionManager {

	private static final long serialVersionUID = 1;

	@Override
	protected Object doGetTransaction() {
		return "nothing";
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
	}

}
