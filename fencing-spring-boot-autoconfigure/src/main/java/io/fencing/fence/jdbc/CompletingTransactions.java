package io.fencing.fence.jdbc;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Remembers which transactions of the current thread are past the point where an
 * operation could still join them: from just before the commit, their connections stay
 * bound while {@code AFTER_COMMIT} listeners run.
 */
final class CompletingTransactions {

	private CompletingTransactions() {
	}

	static void add(ConnectionHolder holder) {
		Key key = new Key(holder);
		if (!TransactionSynchronizationManager.hasResource(key)) {
			TransactionSynchronizationManager.bindResource(key, true);
		}
	}

	static void remove(ConnectionHolder holder) {
		TransactionSynchronizationManager.unbindResourceIfPossible(new Key(holder));
	}

	static boolean contains(ConnectionHolder holder) {
		return !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.hasResource(new Key(holder));
	}

	/**
	 * What stands for a transaction.
	 *
	 * @param holder its connection, which is equal to itself only
	 */
	private record Key(ConnectionHolder holder) {
	}

}
