package io.fencing.fence.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds the transaction that the current thread has open on a data source.
 */
final class BoundTransactions {

	private BoundTransactions() {
	}

	/**
	 * Find the connection of the current transaction.
	 * @param dataSource the data source, unwrapped
	 * @return the connection, {@code null} if none is bound or the bound one is in no
	 * transaction
	 * @throws SQLException if the connection fails
	 */
	static @Nullable ConnectionHolder find(DataSource dataSource) throws SQLException {
		if (!(TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder)
				|| holder.getConnectionHandle() == null || isScopeOnly()) {
			return null;
		}
		if (TransactionHold.find(holder) != null) {
			return holder;
		}
		// bound for the scope of another data source's transaction
		return holder.getConnection().getAutoCommit() ? null : holder;
	}

	/**
	 * Find a connection that is bound without a transaction and has one open all the
	 * same, since it is not in auto-commit mode.
	 * @param dataSource the data source, unwrapped
	 * @return the connection, {@code null} if there is none
	 * @throws SQLException if the connection fails
	 */
	static @Nullable ConnectionHolder findScopeOnly(DataSource dataSource) throws SQLException {
		return (TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder holder
				&& holder.getConnectionHandle() != null && isScopeOnly() && !holder.getConnection().getAutoCommit())
						? holder : null;
	}

	// as with SUPPORTS: there is synchronization, but no transaction
	private static boolean isScopeOnly() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				&& !TransactionSynchronizationManager.isActualTransactionActive();
	}

}
