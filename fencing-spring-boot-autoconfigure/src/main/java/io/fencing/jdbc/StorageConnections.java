package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * Connections of one fenced storage for statements of ours, which go by no fence.
 * Thread-safe.
 */
public interface StorageConnections {

	/**
	 * The data source.
	 * @return the very object that transactions are bound to
	 */
	DataSource getDataSource();

	/**
	 * The dialect of the database behind a connection.
	 * @param connection any connection of the storage
	 * @return the dialect
	 * @throws SQLException if the database does not tell what it is
	 */
	DatabaseDialect getDialect(Connection connection) throws SQLException;

	/**
	 * Work on a connection of its own, in auto-commit mode and at READ COMMITTED, and
	 * give it back.
	 * @param <T> the type of the result
	 * @param work the work
	 * @return the result
	 * @throws SQLException if the work failed, or there is no connection
	 */
	<T extends @Nullable Object> T execute(ConnectionWork<T> work) throws SQLException;

	/**
	 * Work on the connection of the transaction that is active on this thread.
	 * @param <T> the type of the result
	 * @param work the work
	 * @return the result
	 * @throws SQLException if the work failed
	 */
	<T extends @Nullable Object> T executeInTransaction(ConnectionWork<T> work) throws SQLException;

	/**
	 * Work on a connection.
	 *
	 * @param <T> the type of the result
	 */
	@FunctionalInterface
	interface ConnectionWork<T extends @Nullable Object> {

		/**
		 * Do the work.
		 * @param connection the connection
		 * @return the result
		 * @throws SQLException if it fails
		 */
		T execute(Connection connection) throws SQLException;

	}

}
