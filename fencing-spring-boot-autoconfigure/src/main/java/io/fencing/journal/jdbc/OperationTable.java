package io.fencing.journal.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.fencing.FencingToken;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.TableName;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;

/**
 * The journal's table and the statements on it. Immutable and thread-safe.
 *
 * <p>
 * Layout, version 1, one row for each operation identity: <pre>
 * operation_key VARCHAR(64)  SHA-256 of namespace, name and identity, in hexadecimal; the primary key
 * namespace, name, identity  what that stands for, for people and for reconcilers
 * resource_keys TEXT         the keys of its resources, sorted, with commas between
 * input_hash    VARCHAR(64)  the fingerprint of its input
 * token, owner               those of the last attempt
 * state         VARCHAR(16)  the name of an {@link OperationState}
 * external      BOOLEAN      whether it has effects outside the database
 * attempts      INTEGER      how many were started
 * result        BLOB         the encoded result or exception
 * started_at, changed_at     when the first attempt started, and when the row changed last, by the database's clock
 * </pre> A row changes only from the state, token and owner that were seen.
 */
final class OperationTable {

	private static final String COLUMNS = "state, resource_keys, input_hash, token, owner, external, attempts, result";

	private final TableName name;

	private final int timeoutSeconds;

	/**
	 * Create the table.
	 * @param name its name
	 * @param timeoutSeconds the longest time for one statement outside of the
	 * application's transactions
	 */
	OperationTable(TableName name, int timeoutSeconds) {
		this.name = name;
		this.timeoutSeconds = timeoutSeconds;
	}

	TableName getName() {
		return this.name;
	}

	@Nullable JournalEntry find(Connection connection, OperationKey key) throws SQLException {
		try (PreparedStatement statement = prepare(connection,
				"SELECT " + COLUMNS + " FROM " + this.name + " WHERE operation_key = ?")) {
			statement.setString(1, key.hash());
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? entry(key, rows) : null;
			}
		}
	}

	private static JournalEntry entry(OperationKey key, ResultSet row) throws SQLException {
		return new JournalEntry(key, OperationState.valueOf(row.getString(1)), row.getString(2), row.getString(3),
				new FencingToken(row.getLong(4), row.getString(5)), row.getBoolean(6), row.getInt(7), row.getBytes(8));
	}

	/**
	 * Insert the row of a first attempt.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param attempt the attempt
	 * @throws SQLException if the statement failed, as when there is a row
	 */
	void insert(Connection connection, DatabaseDialect dialect, JournalEntry attempt) throws SQLException {
		String now = dialect.currentTime();
		try (PreparedStatement statement = prepare(connection, "INSERT INTO " + this.name
				+ " (operation_key, namespace, name, identity, resource_keys, input_hash, token, owner, state, external, "
				+ "attempts, started_at, changed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " + now + ", " + now
				+ ")")) {
			statement.setString(1, attempt.key().hash());
			statement.setString(2, attempt.key().namespace());
			statement.setString(3, attempt.key().name());
			statement.setString(4, attempt.key().identity());
			statement.setString(5, attempt.resources());
			statement.setString(6, attempt.input());
			statement.setLong(7, attempt.token().value());
			statement.setString(8, attempt.token().owner());
			statement.setString(9, attempt.state().name());
			statement.setBoolean(10, attempt.external());
			statement.setInt(11, attempt.attempts());
			statement.executeUpdate();
		}
	}

	/**
	 * Start a further attempt.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @param attempt the attempt
	 * @param seen the row that it is based on
	 * @return whether the row was still so
	 * @throws SQLException if the statement failed
	 */
	boolean restart(Connection connection, DatabaseDialect dialect, JournalEntry attempt, JournalEntry seen)
			throws SQLException {
		try (PreparedStatement statement = prepare(connection,
				"UPDATE " + this.name
						+ " SET state = ?, token = ?, owner = ?, attempts = ?, result = NULL, changed_at = "
						+ dialect.currentTime() + guard())) {
			statement.setString(1, attempt.state().name());
			statement.setLong(2, attempt.token().value());
			statement.setString(3, attempt.token().owner());
			statement.setInt(4, attempt.attempts());
			setGuard(statement, 5, seen);
			return statement.executeUpdate() == 1;
		}
	}

	/**
	 * Change the state of a row.
	 * @param connection a connection
	 * @param dialect the dialect of its database
	 * @param seen the row as it was seen
	 * @param next the state to change it to
	 * @param result what to record
	 * @return whether the row was still so
	 * @throws SQLException if the statement failed
	 */
	boolean move(Connection connection, DatabaseDialect dialect, JournalEntry seen, OperationState next,
			byte @Nullable [] result) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("UPDATE " + this.name
				+ " SET state = ?, result = ?, changed_at = " + dialect.currentTime() + guard())) {
			// a time-out of ours would harm the application's transaction
			statement.setQueryTimeout(connection.getAutoCommit() ? this.timeoutSeconds : 0);
			statement.setString(1, next.name());
			statement.setBytes(2, result);
			setGuard(statement, 3, seen);
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
		try (PreparedStatement statement = prepare(connection, "SELECT operation_key FROM " + this.name
				+ unchanged(dialect, states) + " ORDER BY changed_at LIMIT " + most)) {
			statement.setLong(1, age.toSeconds());
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
		try (PreparedStatement statement = prepare(connection,
				"DELETE FROM " + this.name + unchanged(dialect, states) + " AND operation_key = ?")) {
			statement.setLong(1, age.toSeconds());
			statement.setString(2, key);
			return statement.executeUpdate();
		}
	}

	private static String unchanged(DatabaseDialect dialect, List<OperationState> states) {
		return states.stream().map(OperationState::name).collect(Collectors.joining("', '", " WHERE state IN ('", "')"))
				+ " AND changed_at < " + dialect.timeBefore();
	}

	private static String guard() {
		return " WHERE operation_key = ? AND state = ? AND token = ? AND owner = ?";
	}

	private static void setGuard(PreparedStatement statement, int index, JournalEntry seen) throws SQLException {
		statement.setString(index, seen.key().hash());
		statement.setString(index + 1, seen.state().name());
		statement.setLong(index + 2, seen.token().value());
		statement.setString(index + 3, seen.token().owner());
	}

	private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(sql);
		statement.setQueryTimeout(this.timeoutSeconds);
		return statement;
	}

}
