package io.fencing.fence.jdbc;

import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.Objects;

import javax.sql.DataSource;

import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.jdbc.DatabaseDialect;
import org.jspecify.annotations.Nullable;

/**
 * Tries a fence table out before anybody relies on it: inserts a row as long as rows can
 * be, reads it, inserts it again, and rolls all of that back. So a table without its
 * primary key, with columns of other types or in an engine without transactions is found
 * at start and not by a lost update. Thread-safe.
 */
final class FenceTrial {

	private static final long LARGEST_TOKEN = (1L << 53) - 1;

	private static final String READ_ONLY_STATE = "25006";

	private final JdbcFence fence;

	FenceTrial(JdbcFence fence) {
		this.fence = fence;
	}

	/**
	 * Try it.
	 * @param dataSource where the table is
	 * @throws InvalidFencedOperationException if it is missing or not what it must be
	 * @throws org.springframework.dao.DataAccessException if the database cannot be asked
	 */
	void run(DataSource dataSource) {
		try {
			new ClaimConnections(dataSource).execute((connection) -> {
				run(connection);
				return true;
			});
		}
		catch (SQLException ex) {
			throw isMisfit(ex) ? unusable("a fence cannot be written to it, '" + firstLine(ex) + "'", ex)
					: this.fence.translate("verification", ex);
		}
	}

	private boolean isMisfit(SQLException ex) {
		DatabaseDialect dialect = this.fence.getDialect();
		return dialect != null && !dialect.isMissingTable(ex) && dialect.isMisfit(ex);
	}

	// without the statement or its position
	private static String firstLine(SQLException ex) {
		return String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
	}

	private void run(Connection connection) throws SQLException {
		FenceTable table = this.fence.table(connection);
		byte[] random = new byte[32];
		new SecureRandom().nextBytes(random);
		String key = HexFormat.of().formatHex(random);
		FencingToken token = new FencingToken(LARGEST_TOKEN, key);
		if (table.isReadOnly(connection)) {
			// a replica may have no table yet, and some servers tell that first
			throw new SQLException("The database can only be read", READ_ONLY_STATE);
		}
		connection.setAutoCommit(false);
		try {
			insert(connection, table, key, token);
			check(token.equals(table.read(connection, key)), "it does not keep what is written to it");
			insertAgain(connection, table, key, token);
			check(table.count(connection, key) == 1, "it has no primary key or unique index on 'resource_key'");
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(true);
		}
		check(table.count(connection, key) == 0, "its engine does not roll back");
	}

	private static void insert(Connection connection, FenceTable table, String key, FencingToken token)
			throws SQLException {
		table.insert(connection, key, "trial", token, Long.MAX_VALUE);
	}

	private static void insertAgain(Connection connection, FenceTable table, String key, FencingToken token)
			throws SQLException {
		try {
			insert(connection, table, key, token);
		}
		catch (SQLException ex) {
			if (!table.getDialect().isConflict(ex)) {
				throw ex;
			}
		}
	}

	private void check(boolean asItShould, String otherwise) {
		if (!asItShould) {
			throw unusable(otherwise, null);
		}
	}

	private InvalidFencedOperationException unusable(String problem, @Nullable SQLException cause) {
		return new InvalidFencedOperationException("Table '" + this.fence.getSettings().table() + "' of storage '"
				+ this.fence.getStorage() + "' cannot be a fence: " + problem + "; create it with the statements of "
				+ "'classpath:" + Objects.requireNonNull(this.fence.getDialect()).getSchemaScript()
				+ "', and let the user of the application SELECT, INSERT, UPDATE and DELETE there", cause);
	}

}
