package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.fencing.FencedResource;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StatementLimit;
import io.fencing.jdbc.StatementLimit.Running;
import io.fencing.jdbc.TableName;
import org.jspecify.annotations.Nullable;

/**
 * The fence table and the statements on it. Immutable and thread-safe.
 *
 * <p>
 * Layout, version 1, one row for each resource: <pre>
 * resource_key  VARCHAR(64)  SHA-256 of namespace and resource name, in hexadecimal; the primary key
 * namespace     VARCHAR      for people
 * token         BIGINT       the highest token accepted, in microseconds since 1970 of the coordinator's clock
 * owner         VARCHAR(64)  the invocation that it was given to
 * claimed_at    TIMESTAMP    when it was accepted, by the database's clock, on MySQL and MariaDB in UTC; for people and for the retention
 * </pre>
 *
 * <p>
 * A stale write, in time: <pre>
 * A  lease 41, claim 41                              the row shows (41, A)
 * A  reads in a first transaction, is held up        lease 41 expires
 * B  lease 42, claim 42                              the row shows (42, B); only now B reads
 * A  begins its second transaction: hold             the row does not show (41, A): refused, nothing written
 * </pre> Had A begun its second transaction before B's claim, its lock on the row would
 * have made B wait and then read what A wrote.
 */
final class FenceTable {

	private static final String MARK = "fencing_hold";

	private final DatabaseDialect dialect;

	private final TableName name;

	private final StatementLimit limit;

	private final String raise;

	private final String insert;

	private final String read;

	private final String lock;

	/**
	 * Create the table.
	 * @param dialect the dialect of its database
	 * @param name its name
	 * @param limit the longest time for one statement
	 */
	FenceTable(DatabaseDialect dialect, TableName name, Duration limit) {
		this.dialect = dialect;
		this.name = name;
		this.limit = new StatementLimit(limit);
		this.raise = dialect.raise(name);
		this.insert = dialect.insert(name);
		this.read = "SELECT token, owner FROM " + name + " WHERE resource_key = ?";
		this.lock = this.read + " " + dialect.lockForHold();
	}

	DatabaseDialect getDialect() {
		return this.dialect;
	}

	TableName getName() {
		return this.name;
	}

	/**
	 * Raise the fence, in one statement of its own transaction, if it is lower and nobody
	 * has it locked.
	 * @param connection a connection in auto-commit mode
	 * @param held what to raise it to
	 * @return whether the row now shows it, as far as the server tells
	 * @throws SQLException if the statement failed
	 */
	boolean raise(Connection connection, HeldResource held) throws SQLException {
		FencingToken token = held.getToken();
		try (PreparedStatement statement = connection.prepareStatement(this.raise);
				Running running = this.limit.begin(statement)) {
			statement.setLong(1, token.value());
			statement.setString(2, token.owner());
			statement.setString(3, held.getResource().getKey());
			statement.setLong(4, token.value());
			statement.setLong(5, token.value());
			return shows(statement, token);
		}
	}

	/**
	 * Insert the first row of a resource, unless the token is older than the retention: a
	 * fence that may have been forgotten can no longer tell that it is stale.
	 * @param connection a connection in auto-commit mode
	 * @param held what to insert
	 * @param retention how long a fence is remembered
	 * @return whether the row now shows it, as far as the server tells
	 * @throws SQLException if the statement failed
	 */
	boolean insert(Connection connection, HeldResource held, Duration retention) throws SQLException {
		FencingToken token = held.getToken();
		return insert(connection, held.getResource().getKey(), held.getResource().getNamespace(), token,
				token.value() + retention.toSeconds() * 1_000_000);
	}

	/**
	 * Insert a row, if a time is not over.
	 * @param connection a connection
	 * @param key the key
	 * @param namespace the namespace
	 * @param token the token and its owner
	 * @param until the time, in microseconds since 1970
	 * @return whether the row now shows it, as far as the server tells
	 * @throws SQLException if the statement failed
	 */
	boolean insert(Connection connection, String key, String namespace, FencingToken token, long until)
			throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(this.insert);
				Running running = this.limit.begin(statement)) {
			statement.setString(1, key);
			statement.setString(2, namespace);
			statement.setLong(3, token.value());
			statement.setString(4, token.owner());
			statement.setLong(5, until);
			return shows(statement, token);
		}
	}

	private static boolean shows(PreparedStatement statement, FencingToken token) throws SQLException {
		if (!statement.execute()) {
			return false;
		}
		try (ResultSet rows = statement.getResultSet()) {
			return rows.next() && token.owner().equals(rows.getString(1));
		}
	}

	/**
	 * Read one fence, without a lock.
	 * @param connection the connection
	 * @param resource the resource
	 * @return what it shows, {@code null} if there is no row
	 * @throws SQLException if the statement failed
	 */
	@Nullable FencingToken read(Connection connection, FencedResource resource) throws SQLException {
		return read(connection, resource.getKey());
	}

	/**
	 * Read one fence, without a lock.
	 * @param connection the connection
	 * @param key its key
	 * @return what it shows, {@code null} if there is no row
	 * @throws SQLException if the statement failed
	 */
	@Nullable FencingToken read(Connection connection, String key) throws SQLException {
		return read(connection, this.read, key);
	}

	private @Nullable FencingToken read(Connection connection, String sql, String key) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql);
				Running running = this.limit.begin(statement)) {
			statement.setString(1, key);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? new FencingToken(rows.getLong(1), rows.getString(2)) : null;
			}
		}
	}

	/**
	 * Read the clock that decides whether a token is older than the retention.
	 * @param connection the connection
	 * @return the server's time, as tokens carry it
	 * @throws SQLException if the statement failed
	 */
	long now(Connection connection) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("SELECT " + this.dialect.clock());
				Running running = this.limit.begin(statement);
				ResultSet rows = statement.executeQuery()) {
			rows.next();
			return rows.getBigDecimal(1).longValue();
		}
	}

	/**
	 * Count the rows of a key: one, unless the table is not what it must be.
	 * @param connection the connection
	 * @param key the key
	 * @return the number of its rows
	 * @throws SQLException if the statement failed
	 */
	int count(Connection connection, String key) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement("SELECT COUNT(*) FROM " + this.name + " WHERE resource_key = ?");
				Running running = this.limit.begin(statement)) {
			statement.setString(1, key);
			try (ResultSet rows = statement.executeQuery()) {
				return rows.next() ? rows.getInt(1) : 0;
			}
		}
	}

	/**
	 * Lock one fence against claims, without waiting. For a list of keys InnoDB may scan,
	 * and lock rows of others.
	 * @param connection a connection in a transaction
	 * @param resource the resource
	 * @return what it shows, {@code null} if there is no row, or somebody else has it
	 * locked
	 * @throws SQLException if the statement failed
	 */
	@Nullable FencingToken lock(Connection connection, FencedResource resource) throws SQLException {
		return read(connection, this.lock, resource.getKey());
	}

	/**
	 * Read the fences of resources without a lock, in a transaction that cannot lock.
	 * @param connection a connection in a transaction
	 * @param held the resources
	 * @return what the rows show, by key of the resource; {@code null} if the transaction
	 * can lock
	 * @throws SQLException if the statement failed
	 */
	@Nullable Map<String, FencingToken> readInReadOnlyTransaction(Connection connection, Collection<? extends HeldResource> held)
			throws SQLException {
		String cannotLock = this.dialect.readOnlyTransaction();
		if (cannotLock == null) {
			return null;
		}
		String sql = "SELECT resource_key, token, owner, " + cannotLock + " FROM " + this.name + in(held);
		try (PreparedStatement statement = connection.prepareStatement(sql);
				Running running = this.limit.begin(statement)) {
			setKeys(statement, keys(held));
			Map<String, FencingToken> result = new HashMap<>();
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					if (!rows.getBoolean(4)) {
						return null;
					}
					result.put(rows.getString(1), new FencingToken(rows.getLong(2), rows.getString(3)));
				}
			}
			return result;
		}
	}

	/**
	 * Ask whether a transaction that begins now can only read.
	 * @param connection the connection
	 * @return whether it can, as far as the server tells
	 * @throws SQLException if the statement failed
	 */
	boolean isReadOnly(Connection connection) throws SQLException {
		String readOnly = this.dialect.readOnlyTransaction();
		if (readOnly == null) {
			return false;
		}
		try (PreparedStatement statement = connection.prepareStatement("SELECT " + readOnly);
				Running running = this.limit.begin(statement);
				ResultSet rows = statement.executeQuery()) {
			return rows.next() && rows.getBoolean(1);
		}
	}

	/**
	 * Ask for the identity of the current transaction.
	 * @param connection a connection in a transaction
	 * @return the identity, {@code null} if it has none or cannot be replaced
	 * @throws SQLException if the statement failed
	 */
	@Nullable String transactionId(Connection connection) throws SQLException {
		String query = this.dialect.transactionIdentity().query();
		if (query == null) {
			return null;
		}
		try (PreparedStatement statement = connection.prepareStatement(query);
				Running running = this.limit.begin(statement);
				ResultSet rows = statement.executeQuery()) {
			return rows.next() ? rows.getString(1) : null;
		}
	}

	/**
	 * Set the savepoint that is gone when the server has replaced the transaction. It
	 * waits for no lock, nor does its release, so neither has a limit.
	 * @param connection a connection in a transaction
	 * @throws SQLException if the statement failed
	 */
	void mark(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("SAVEPOINT " + MARK);
		}
	}

	/**
	 * Release the savepoint.
	 * @param connection a connection in a transaction
	 * @return whether it was still there
	 * @throws SQLException if the statement failed
	 */
	boolean releaseMark(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("RELEASE SAVEPOINT " + MARK);
			return true;
		}
		catch (SQLException ex) {
			if (this.dialect.transactionIdentity().isMissing(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private static void setKeys(PreparedStatement statement, List<String> keys) throws SQLException {
		for (int i = 0; i < keys.size(); i++) {
			statement.setString(i + 1, keys.get(i));
		}
	}

	private static String in(Collection<? extends HeldResource> held) {
		return " WHERE resource_key IN (" + String.join(", ", Collections.nCopies(held.size(), "?")) + ")";
	}

	private static List<String> keys(Collection<? extends HeldResource> held) {
		return held.stream().map((one) -> one.getResource().getKey()).toList();
	}

}
