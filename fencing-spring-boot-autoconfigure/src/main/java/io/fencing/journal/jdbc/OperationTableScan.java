package io.fencing.journal.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StatementLimit.Running;
import io.fencing.journal.OpenOperation;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;

/**
 * Goes through the rows of the journal: those without an end, and those that have
 * expired. Always a bounded number at a time. Immutable and thread-safe.
 */
final class OperationTableScan {

	private static final String OPEN_COLUMNS = OperationTable.COLUMNS
			+ ", operation_key, namespace, name, identity, changed_at, checks";

	private final OperationTable table;

	/**
	 * Create a scan.
	 * @param table the table
	 */
	OperationTableScan(OperationTable table) {
		this.table = table;
	}

	/**
	 * Find rows of operations without an end that are due. One that is locked is about to
	 * get its end, or belongs to a node that hangs and holds up nobody.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param namespace their namespace
	 * @param decided the names of operations that are looked for while undecided as well
	 * @param limit the greatest number of rows
	 * @return the rows, the longest due first
	 * @throws SQLException if the statement failed
	 */
	List<OpenOperation> findDue(Connection connection, DatabaseDialect dialect, String namespace,
			Collection<String> decided, int limit) throws SQLException {
		String undecided = decided.stream()
			.map((name) -> "?")
			.collect(Collectors.joining(", ", " OR (state = 'UNDECIDED' AND name IN (", "))"));
		return findOpen(connection, dialect, limit,
				"state IN ('RUNNING', 'UNDECIDED') AND (state = 'RUNNING'" + (decided.isEmpty() ? "" : undecided)
						+ ") AND namespace = ? AND check_at <= " + dialect.currentTime()
						+ " ORDER BY check_at LIMIT ? FOR UPDATE SKIP LOCKED",
				Stream.concat(decided.stream(), Stream.of(namespace)).toList());
	}

	/**
	 * Find rows of undecided operations.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param namespace their namespace
	 * @param limit the greatest number of rows
	 * @return the rows, the oldest first
	 * @throws SQLException if the statement failed
	 */
	List<OpenOperation> findUndecided(Connection connection, DatabaseDialect dialect, String namespace, int limit)
			throws SQLException {
		return findOpen(connection, dialect, limit, "state = 'UNDECIDED' AND namespace = ? ORDER BY changed_at LIMIT ?",
				List.of(namespace));
	}

	private List<OpenOperation> findOpen(Connection connection, DatabaseDialect dialect, int limit, String condition,
			List<String> parameters) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT " + OPEN_COLUMNS + " FROM " + this.table.getName() + " WHERE " + condition);
				Running running = this.table.begin(statement)) {
			for (int i = 0; i < parameters.size(); i++) {
				statement.setString(i + 1, parameters.get(i));
			}
			statement.setInt(parameters.size() + 1, limit);
			try (ResultSet rows = statement.executeQuery()) {
				List<OpenOperation> found = new ArrayList<>();
				while (rows.next()) {
					OperationKey key = new OperationKey(rows.getString(10), rows.getString(11), rows.getString(12),
							rows.getString(9));
					found.add(new OpenOperation(OperationTable.entry(key, rows), dialect.readTime(rows, 13),
							rows.getInt(14)));
				}
				return found;
			}
		}
	}

	/**
	 * Put off when a row is due next.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param seen the row as it was seen
	 * @param delay the time from now
	 * @return whether the row was still so
	 * @throws SQLException if the statement failed
	 */
	boolean putOff(Connection connection, DatabaseDialect dialect, OpenOperation seen, Duration delay)
			throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("UPDATE " + this.table.getName() + " SET check_at = " + dialect.timeFromNow()
					+ ", checks = checks + 1" + OperationTable.guard() + " AND checks = ?");
				Running running = this.table.begin(statement)) {
			statement.setLong(1, delay.toSeconds());
			OperationTable.setGuard(statement, 2, seen.entry());
			statement.setInt(7, seen.checks());
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Find rows that nothing has changed for a time.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param states their states
	 * @param age the time
	 * @param most the greatest number of rows
	 * @return their keys
	 * @throws SQLException if the statement failed
	 */
	List<String> findUnchanged(Connection connection, DatabaseDialect dialect, List<OperationState> states,
			Duration age, int most) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("SELECT operation_key FROM "
				+ this.table.getName() + unchanged(dialect, states) + " ORDER BY changed_at LIMIT " + most);
				Running running = this.table.begin(statement)) {
			statement.setLong(1, -age.toSeconds());
			try (ResultSet rows = statement.executeQuery()) {
				List<String> keys = new ArrayList<>();
				while (rows.next()) {
					keys.add(rows.getString(1));
				}
				return keys;
			}
		}
	}

	/**
	 * Delete a row, if nothing has changed it for a time.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param key its key
	 * @param states the states that it may be in
	 * @param age the time
	 * @return the number of rows deleted
	 * @throws SQLException if the statement failed
	 */
	int deleteUnchanged(Connection connection, DatabaseDialect dialect, String key, List<OperationState> states,
			Duration age) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(
				"DELETE FROM " + this.table.getName() + unchanged(dialect, states) + " AND operation_key = ?");
				Running running = this.table.begin(statement)) {
			statement.setLong(1, -age.toSeconds());
			statement.setString(2, key);
			return statement.executeUpdate();
		}
	}

	private static String unchanged(DatabaseDialect dialect, List<OperationState> states) {
		return states.stream().map(OperationState::name).collect(Collectors.joining("', '", " WHERE state IN ('", "')"))
				+ " AND changed_at < " + dialect.timeFromNow();
	}

}
