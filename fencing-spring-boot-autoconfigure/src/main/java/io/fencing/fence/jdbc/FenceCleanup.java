package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.sql.DataSource;

import org.springframework.jdbc.CannotGetJdbcConnectionException;

/**
 * Removes the fences that no operation can need any more: those whose token and whose row
 * are both older than the retention. A token that is older than that is refused without
 * its row.
 *
 * <p>
 * It walks along the primary key and reads without locks. Each batch is then deleted by
 * key in one READ COMMITTED statement, which looks again and skips what somebody else has
 * locked; so neither claims, holds nor other nodes wait for it or run into it. There is
 * no index on the times: it would make each claim dearer. Thread-safe.
 */
final class FenceCleanup {

	/**
	 * By how much rows outlive the retention. A claim that was sent before a clean-up, or
	 * after the database's clock was set back a little, still finds the row.
	 */
	static final Duration MARGIN = Duration.ofHours(1);

	static final int BATCH = 100;

	private final JdbcFence fence;

	FenceCleanup(JdbcFence fence) {
		this.fence = fence;
	}

	/**
	 * Remove what has expired. Ends early if the thread is interrupted.
	 * @return the number of rows removed
	 */
	int run() {
		int removed = 0;
		RuntimeException failure = null;
		for (DataSource target : this.fence.getTargets()) {
			try {
				removed += run(new ClaimConnections(target));
			}
			catch (SQLException ex) {
				// a replica loses the rows that are removed elsewhere
				failure = this.fence.isReadOnly(ex) ? failure : this.fence.translate("clean-up", ex);
			}
			catch (CannotGetJdbcConnectionException ex) {
				failure = ex;
			}
		}
		if (failure != null) {
			throw failure;
		}
		return removed;
	}

	private int run(ClaimConnections connections) throws SQLException {
		int removed = 0;
		// before every key, and not empty, which some settings take for NULL
		String last = "0";
		List<String> keys;
		do {
			keys = find(connections, last);
			if (!keys.isEmpty()) {
				removed += remove(connections, keys);
				last = keys.get(keys.size() - 1);
			}
		}
		while (keys.size() == BATCH && !Thread.currentThread().isInterrupted());
		return removed;
	}

	private List<String> find(ClaimConnections connections, String last) throws SQLException {
		return connections.execute((connection) -> {
			FenceTable table = this.fence.table(connection);
			String sql = "SELECT resource_key FROM " + table.getName() + " WHERE resource_key > ? AND "
					+ table.getDialect().expired() + " ORDER BY resource_key LIMIT " + BATCH;
			try (PreparedStatement statement = prepare(connection, sql, List.of(last));
					ResultSet rows = statement.executeQuery()) {
				List<String> keys = new ArrayList<>();
				while (rows.next()) {
					keys.add(rows.getString(1));
				}
				return keys;
			}
		});
	}

	private int remove(ClaimConnections connections, List<String> keys) throws SQLException {
		return connections.execute((connection) -> {
			FenceTable table = this.fence.table(connection);
			// a row claimed meanwhile is locked to the end of the statement, and a hold
			// that shares no lock meets it
			int step = table.getDialect().sharesLocks() ? keys.size() : 1;
			int removed = 0;
			for (int i = 0; i < keys.size(); i += step) {
				removed += remove(connection, table, keys.subList(i, i + step));
			}
			return removed;
		});
	}

	private int remove(Connection connection, FenceTable table, List<String> keys) throws SQLException {
		String sql = table.getDialect()
			.removeExpired(table.getName(), String.join(", ", Collections.nCopies(keys.size(), "?")));
		try (PreparedStatement statement = prepare(connection, sql, keys)) {
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			if (!table.getDialect().isConflict(ex)) {
				throw ex;
			}
			// somebody needs these rows; the next run looks at them again
			return 0;
		}
	}

	private PreparedStatement prepare(Connection connection, String sql, List<String> keys) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(sql);
		int index = 1;
		for (String key : keys) {
			statement.setString(index++, key);
		}
		long oldest = this.fence.getSettings().retention().plus(MARGIN).toSeconds() * 1_000_000;
		statement.setLong(index++, oldest);
		statement.setLong(index, oldest);
		return statement;
	}

}
