package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Marks on the current thread that what is sent has been looked at already: claims, holds
 * and statements of templates.
 */
final class OwnStatements {

	private static final Object ALL = new Object();

	private OwnStatements() {
	}

	/**
	 * Whether what is sent to a data source has been looked at.
	 * @param dataSource the data source
	 * @return whether it has
	 */
	static boolean isOpen(DataSource dataSource) {
		return TransactionSynchronizationManager.hasResource(ALL)
				|| TransactionSynchronizationManager.hasResource(new Mark(ManagedDataSources.unwrap(dataSource)));
	}

	/**
	 * Begin to send, whereto ever.
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open() {
		return open(ALL);
	}

	/**
	 * Begin to send to one data source. Callbacks that send to others are looked at.
	 * @param dataSource the data source
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open(DataSource dataSource) {
		return open(new Mark(ManagedDataSources.unwrap(dataSource)));
	}

	/**
	 * Begin to take a hold. The connections that its statements pass through learn that
	 * they are those of the transaction, whatever proxies stand in between.
	 * @param transaction the connection of the transaction
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open(ConnectionHolder transaction) {
		Object before = TransactionSynchronizationManager.unbindResourceIfPossible(ALL);
		TransactionSynchronizationManager.bindResource(ALL, transaction);
		return () -> {
			TransactionSynchronizationManager.unbindResource(ALL);
			if (before != null) {
				TransactionSynchronizationManager.bindResource(ALL, before);
			}
		};
	}

	/**
	 * The transaction that a hold is being taken in.
	 * @return its connection, {@code null} if none is
	 */
	static @Nullable ConnectionHolder findTransaction() {
		return (TransactionSynchronizationManager.getResource(ALL) instanceof ConnectionHolder holder) ? holder : null;
	}

	private static Scope open(Object key) {
		// outside of operations nobody looks
		if (OperationContext.getEnforced() == null || TransactionSynchronizationManager.hasResource(key)) {
			return () -> {
			};
		}
		TransactionSynchronizationManager.bindResource(key, true);
		return () -> TransactionSynchronizationManager.unbindResource(key);
	}

	/**
	 * Stands for a data source, which is a key of transactions itself.
	 *
	 * @param dataSource the data source
	 */
	private record Mark(DataSource dataSource) {

		@Override
		public boolean equals(Object other) {
			return other instanceof Mark mark && mark.dataSource == this.dataSource;
		}

		@Override
		public int hashCode() {
			return System.identityHashCode(this.dataSource);
		}

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
