package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StorageConnections;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * The connections of a fenced storage, for others who keep something next to the fence.
 * Thread-safe.
 */
final class FencedStorageConnections implements StorageConnections {

	private final JdbcFence fence;

	private final ClaimConnections connections;

	FencedStorageConnections(JdbcFence fence) {
		this.fence = fence;
		this.connections = new ClaimConnections(fence.getDataSource());
	}

	@Override
	public DataSource getDataSource() {
		return this.fence.getDataSource();
	}

	@Override
	public DatabaseDialect getDialect(Connection connection) throws SQLException {
		return this.fence.table(connection).getDialect();
	}

	@Override
	public <T extends @Nullable Object> T execute(ConnectionWork<T> work) throws SQLException {
		try {
			return this.connections.execute(work::execute);
		}
		catch (CannotGetJdbcConnectionException ex) {
			throw new SQLException("No connection", "08001", ex);
		}
	}

	@Override
	public <T extends @Nullable Object> T executeInTransaction(ConnectionWork<T> work) throws SQLException {
		DataSource dataSource = this.fence.getDataSource();
		Connection connection = DataSourceUtils.doGetConnection(dataSource);
		try (OwnStatements.Scope own = OwnStatements.open()) {
			return work.execute(connection);
		}
		finally {
			DataSourceUtils.doReleaseConnection(connection, dataSource);
		}
	}

}
