package io.fencing.fence.jdbc;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Remembers which transactions of the current thread are past the point where an
 * operation could still join them: from just before the commit, their connections stay
 * bound while {@code AFTER_COMMIT} listeners run. A hold remembers it itself.
 */
final class CompletingTransactions {

	// stands in the place of a hold
	private static final Object WITHOUT_HOLD = new Object();

	private CompletingTransactions() {
	}

	static void addUnheld(ConnectionHolder holder) {
		if (!TransactionSynchronizationManager.hasResource(holder)) {
			TransactionSynchronizationManager.bindResource(holder, WITHOUT_HOLD);
		}
	}

	static void remove(ConnectionHolder holder) {
		TransactionSynchronizationManager.unbindResourceIfPossible(holder);
	}

	static boolean contains(ConnectionHolder holder, @Nullable TransactionHold hold) {
		return (hold != null) ? hold.isCompleting() : !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.hasResource(holder);
	}

}
