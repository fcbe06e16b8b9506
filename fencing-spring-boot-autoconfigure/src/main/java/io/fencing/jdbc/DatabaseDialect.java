package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What differs between the databases that can be fenced. PostgreSQL, MySQL, MariaDB and
 * H2 have theirs; a bean of this type adds another database, or takes precedence for one
 * of these. Implementations are stateless and pass the contract tests of the fence
 * ({@code JdbcFenceTests} and {@code FencingRulesTests} in the project's sources).
 *
 * <p>
 * What a database must be able to do: skip rows that are locked, keep a row lock to the
 * end of a transaction, and at {@code READ COMMITTED} read what was committed last. Locks
 * must hold on every node that is written to: clusters with several writers do not
 * replicate them.
 */
public interface DatabaseDialect {

	/**
	 * The name of the dialect, which is also that of the storage in events and messages.
	 * @return a low-cardinality name such as {@code postgresql}
	 */
	String getName();

	/**
	 * Whether the dialect is that of a database. Asks the server rather than the URL or
	 * the driver, since drivers connect to other products too.
	 * @param connection a connection to it
	 * @return whether it is
	 * @throws SQLException if the server does not answer
	 */
	boolean supports(Connection connection) throws SQLException;

	/**
	 * The classpath location of the script that creates the table.
	 * @return the location
	 */
	default String getSchemaScript() {
		return "io/fencing/jdbc/schema-" + getName() + ".sql";
	}

	/**
	 * The statement that raises a fence if it is lower and nobody has it locked, without
	 * ever queueing for the lock. Sent in auto-commit mode. Its parameters are the token,
	 * the owner, the key, and the token twice; where the server can, it answers with the
	 * owner in the row that it has changed.
	 * @param table the table
	 * @return the statement
	 */
	String raise(TableName table);

	/**
	 * The statement that inserts a fence, if the last parameter is later than the
	 * server's {@linkplain #clock() clock}. Does nothing, or fails with a
	 * {@linkplain #isConflict conflict}, if the row is there. Sent in auto-commit mode.
	 * Its parameters are key, namespace, token, owner and that time; where the server
	 * can, it answers with the owner in the row that it has inserted.
	 * @param table the table
	 * @return the statement
	 */
	String insert(TableName table);

	/**
	 * The expression for the server's time in the columns of our tables.
	 * @return the expression
	 */
	default String currentTime() {
		return "CURRENT_TIMESTAMP";
	}

	/**
	 * The expression for the server's clock in microseconds since 1970, as tokens carry
	 * it.
	 * @return the expression
	 */
	default String clock() {
		return "EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000";
	}

	/**
	 * The expression for the server's time as many seconds from now as its only parameter
	 * says; earlier, if that is negative.
	 * @return the expression
	 */
	default String timeFromNow() {
		return currentTime() + " + CAST(? AS BIGINT) * INTERVAL '1' SECOND";
	}

	/**
	 * Read a time that was written as {@link #currentTime()}.
	 * @param row the row
	 * @param column the number of the column, 1 for the first one
	 * @return the time
	 * @throws SQLException if it cannot be read
	 */
	default Instant readTime(ResultSet row, int column) throws SQLException {
		return row.getObject(column, OffsetDateTime.class).toInstant();
	}

	/**
	 * The condition for fences that nothing can need any more: their token and the time
	 * of their row are both older, by the server's clock, than its two equal parameters
	 * say, in microseconds.
	 * @return the condition
	 */
	default String expired() {
		return "token < " + clock() + " - ? AND EXTRACT(EPOCH FROM claimed_at) * 1000000 < " + clock() + " - ?";
	}

	/**
	 * The statement that deletes those of some fences that have {@link #expired} and that
	 * nobody has locked. Sent in auto-commit mode, so that no fence stays locked while a
	 * client is held up.
	 * @param table the table
	 * @param keys a list of parameters for the keys, followed by those of
	 * {@link #expired}
	 * @return the statement
	 */
	default String removeExpired(TableName table, String keys) {
		return "DELETE FROM " + table + " WHERE resource_key IN (SELECT resource_key FROM " + table
				+ " WHERE resource_key IN (" + keys + ") AND " + expired() + " FOR UPDATE SKIP LOCKED)";
	}

	/**
	 * The clause of a SELECT that locks rows against {@link #raise} to the end of the
	 * transaction and skips those that are locked. It never fails because of a lock: that
	 * would harm the application's transaction.
	 * @return the clause
	 */
	String lockForHold();

	/**
	 * Whether several transactions can hold a row at once.
	 * @return whether they can
	 */
	default boolean sharesLocks() {
		return true;
	}

	/**
	 * The expression that tells whether the server refuses {@link #lockForHold} in the
	 * current transaction, since that is read-only.
	 * @return a boolean expression, {@code null} where it never does
	 */
	default @Nullable String readOnlyTransaction() {
		return null;
	}

	/**
	 * How to find out whether the server has replaced a transaction under its client.
	 * @return how
	 */
	default TransactionIdentity transactionIdentity() {
		return TransactionIdentity.STABLE;
	}

	/**
	 * Whether the server has rolled the transaction back with this error and goes on in a
	 * new one.
	 * @param ex the error
	 * @return whether it has
	 */
	default boolean replacesTransaction(SQLException ex) {
		return false;
	}

	/**
	 * Whether a statement commits the transaction that it is sent in.
	 * @param words its first words, in upper case, at least one
	 * @return whether it does
	 */
	default boolean commitsImplicitly(List<String> words) {
		return false;
	}

	/**
	 * Whether the server refuses a statement inside a transaction.
	 * @param words its first words, in upper case, at least one
	 * @return whether it does
	 */
	default boolean refusesTransaction(List<String> words) {
		return false;
	}

	/**
	 * Whether the server can only roll the current transaction back, and does so silently
	 * at a commit, since a statement in it has failed.
	 * @param connection a connection in a transaction
	 * @return whether it is so
	 * @throws SQLException if it cannot be told
	 */
	default boolean hasFailed(Connection connection) throws SQLException {
		return false;
	}

	/**
	 * Whether {@link #raise} or {@link #insert} lost against another statement, or was
	 * {@linkplain java.sql.Statement#cancel() cancelled}, and may be sent again.
	 * @param ex the error
	 * @return whether it may
	 */
	boolean isConflict(SQLException ex);

	/**
	 * Whether a statement was refused since nothing can be written there: a replica, a
	 * read-only session.
	 * @param ex the error
	 * @return whether it is so
	 */
	default boolean isReadOnly(SQLException ex) {
		return "25006".equals(ex.getSQLState());
	}

	/**
	 * Whether the table or its schema does not exist.
	 * @param ex the error
	 * @return whether it is missing
	 */
	boolean isMissingTable(SQLException ex);

	/**
	 * Whether a statement does not fit the table, its data, or the rights on it.
	 * @param ex the error
	 * @return whether it is so
	 */
	default boolean isMisfit(SQLException ex) {
		String state = ex.getSQLState();
		// classes of SQL states: cardinality, data, constraints, syntax and access rules
		return state != null && state.length() > 2 && List.of("21", "22", "23", "42").contains(state.substring(0, 2));
	}

}
