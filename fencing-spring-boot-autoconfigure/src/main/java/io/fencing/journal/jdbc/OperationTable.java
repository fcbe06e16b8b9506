package io.fencing.journal.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

import io.fencing.FencingToken;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StatementLimit;
import io.fencing.jdbc.StatementLimit.Running;
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
 * check_at, checks           while it has no end: when it is to be looked after next, and how often it was in this state
 * </pre> A row changes only from the state, token, owner and number of attempts that were
 * seen: several attempts inside of one operation around them have its token.
 */
final class OperationTable {

	static final String COLUMNS = "state, resource_keys, input_hash, token, owner, external, attempts, result";

	private final TableName name;

	private final StatementLimit limit;

	private final Duration checkAfter;

	/**
	 * Create the table.
	 * @param name its name
	 * @param limit the longest time for one statement outside of the application's
	 * transactions
	 * @param checkAfter how long after its start an attempt is looked after first
	 */
	OperationTable(TableName name, Duration limit, Duration checkAfter) {
		this.name = name;
		this.limit = new StatementLimit(limit);
		this.checkAfter = checkAfter;
	}

	TableName getName() {
		return this.name;
	}

	@Nullable JournalEntry find(Connection connection, OperationKey key) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT " + COLUMNS + " FROM " + this.name + " WHERE operation_key = ?");
				Running running = begin(statement)) {
			statement.setString(1, key.hash());
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? entry(key, rows) : null;
			}
		}
	}

	static JournalEntry entry(OperationKey key, ResultSet row) throws SQLException {
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
		try (PreparedStatement statement = connection.prepareStatement("INSERT INTO " + this.name
				+ " (operation_key, namespace, name, identity, resource_keys, input_hash, token, owner, state, external, "
				+ "attempts, started_at, changed_at, check_at, checks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " + now
				+ ", " + now + ", " + dialect.timeFromNow() + ", 0)"); Running running = begin(statement)) {
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
			statement.setLong(12, this.checkAfter.toSeconds());
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
		try (PreparedStatement statement = connection.prepareStatement("UPDATE " + this.name
				+ " SET state = ?, token = ?, owner = ?, external = ?, attempts = ?, result = NULL, changed_at = "
				+ dialect.currentTime() + ", check_at = " + dialect.timeFromNow() + ", checks = 0" + guard());
				Running running = begin(statement)) {
			statement.setString(1, attempt.state().name());
			statement.setLong(2, attempt.token().value());
			statement.setString(3, attempt.token().owner());
			statement.setBoolean(4, attempt.external());
			statement.setInt(5, attempt.attempts());
			statement.setLong(6, this.checkAfter.toSeconds());
			setGuard(statement, 7, seen);
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
		String now = dialect.currentTime();
		try (PreparedStatement statement = connection.prepareStatement("UPDATE " + this.name
				+ " SET state = ?, result = ?, changed_at = " + now + ", check_at = " + now + ", checks = 0" + guard());
				// a limit of ours would harm the application's transaction
				Running running = connection.getAutoCommit() ? begin(statement) : null) {
			statement.setString(1, next.name());
			statement.setBytes(2, result);
			setGuard(statement, 3, seen);
			return statement.executeUpdate() == 1;
		}
	}

	static String guard() {
		return " WHERE operation_key = ? AND state = ? AND token = ? AND owner = ? AND attempts = ?";
	}

	static void setGuard(PreparedStatement statement, int index, JournalEntry seen) throws SQLException {
		statement.setString(index, seen.key().hash());
		statement.setString(index + 1, seen.state().name());
		statement.setLong(index + 2, seen.token().value());
		statement.setString(index + 3, seen.token().owner());
		statement.setInt(index + 4, seen.attempts());
	}

	/**
	 * A statement outside of the application's transactions is about to be executed.
	 * @param statement the statement
	 * @return what to close when it has been
	 */
	Running begin(PreparedStatement statement) {
		return this.limit.begin(statement);
	}

}
