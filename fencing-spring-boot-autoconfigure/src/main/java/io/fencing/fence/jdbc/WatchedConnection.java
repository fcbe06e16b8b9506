package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * A watched connection. What each transaction calls stands here, since a call by
 * reflection costs several times as much.
 */
abstract class WatchedConnection extends Watched implements Connection {

	WatchedConnection(Object target, @Nullable Connection connection, boolean updatable, WatchedClasses classes,
			Watcher watcher) {
		super(target, connection, updatable, classes, watcher);
	}

	@Override
	public void setAutoCommit(boolean autoCommit) throws SQLException {
		if (autoCommit) {
			watcher(this).beforeCommit();
		}
		behind(this).setAutoCommit(autoCommit);
	}

	@Override
	public void commit() throws SQLException {
		watcher(this).beforeCommit();
		behind(this).commit();
	}

	@Override
	public PreparedStatement prepareStatement(String sql) throws SQLException {
		try (OwnStatements.Scope looked = tellStatement(sql, false)) {
			return (PreparedStatement) watch(behind(this).prepareStatement(sql), this, false);
		}
	}

}
