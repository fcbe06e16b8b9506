package io.fencing.fence.jdbc;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Marks on the current thread that what is sent has been looked at already: claims, holds
 * and statements of templates.
 */
final class OwnStatements {

	private static final Object KEY = new Object();

	private OwnStatements() {
	}

	static boolean isOpen() {
		return TransactionSynchronizationManager.hasResource(KEY);
	}

	/**
	 * Begin to send.
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open() {
		if (isOpen()) {
			return () -> {
			};
		}
		TransactionSynchronizationManager.bindResource(KEY, true);
		return () -> TransactionSynchronizationManager.unbindResource(KEY);
	}

	/**
	 * Ends the mark.
	 */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
