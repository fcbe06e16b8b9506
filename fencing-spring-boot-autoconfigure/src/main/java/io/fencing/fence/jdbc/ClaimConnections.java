package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.SmartDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Connections for claims: straight from the {@link DataSource}, never the one bound to
 * the thread, never in its read-only scope, in auto-commit mode and at READ COMMITTED
 * whatever the pool's defaults are, which are restored before the connection goes back.
 * Thread-safe.
 */
final class ClaimConnections {

	private static final Logger logger = LoggerFactory.getLogger(ClaimConnections.class);

	private final DataSource dataSource;

	// asked once where all connections are alike, since some drivers ask the server
	private volatile int isolation = -1;

	ClaimConnections(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	/**
	 * Work on a connection, and give it back.
	 * @param <T> the type of the result
	 * @param work the work
	 * @return the result
	 * @throws SQLException if the work failed
	 * @throws CannotGetJdbcConnectionException if there is no connection
	 */
	<T extends @Nullable Object> T execute(ConnectionWork<T> work) throws SQLException {
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		// what sends the caller's read-only transaction to a replica is none of a claim's
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(false);
		try (OwnStatements.Scope own = OwnStatements.open(); Connection connection = open()) {
			return execute(connection, work);
		}
		finally {
			TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
		}
	}

	private <T extends @Nullable Object> T execute(Connection connection, ConnectionWork<T> work) throws SQLException {
		checkOwn(connection);
		boolean manualCommit = !connection.getAutoCommit();
		if (manualCommit) {
			connection.setAutoCommit(true);
		}
		int defaultIsolation = isolation(connection);
		if (defaultIsolation != Connection.TRANSACTION_READ_COMMITTED) {
			connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		}
		try {
			return work.execute(connection);
		}
		finally {
			restore(connection, manualCommit, defaultIsolation);
		}
	}

	private Connection open() {
		try {
			return this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException("Failed to obtain a connection of its own for a fence", ex);
		}
	}

	// committing a claim on the caller's connection would commit the caller's work
	private void checkOwn(Connection connection) {
		if (this.dataSource instanceof SmartDataSource shared && !shared.shouldClose(connection)
				&& TransactionSynchronizationManager.hasResource(this.dataSource)) {
			throw new InvalidFencedOperationException(
					"A claim needs a connection of its own, but a DataSource of type '"
							+ this.dataSource.getClass().getName()
							+ "' hands out the one that the caller has in use; use a DataSource with several connections");
		}
	}

	private int isolation(Connection connection) throws SQLException {
		if (this.dataSource instanceof AbstractRoutingDataSource) {
			return connection.getTransactionIsolation();
		}
		if (this.isolation < 0) {
			this.isolation = connection.getTransactionIsolation();
		}
		return this.isolation;
	}

	private void restore(Connection connection, boolean manualCommit, int defaultIsolation) {
		try {
			if (defaultIsolation != Connection.TRANSACTION_READ_COMMITTED) {
				connection.setTransactionIsolation(defaultIsolation);
			}
			if (manualCommit) {
				connection.setAutoCommit(false);
			}
		}
		catch (SQLException ex) {
			// the pool finds out that the connection is broken; the claim stands
			logger.debug("Could not restore the settings of a connection after a claim", ex);
		}
	}

	/**
	 * Work on a connection.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface ConnectionWork<T extends @Nullable Object> {

		/**
		 * Do the work.
		 * @param connection the connection, in auto-commit mode
		 * @return the result
		 * @throws SQLException if it fails
		 */
		T execute(Connection connection) throws SQLException;

	}

}
