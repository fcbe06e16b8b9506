package io.fencing.journal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;

/**
 * Tries the table of the journal out before anybody relies on it: inserts a row, reads
 * it, inserts it again, and rolls all of that back. Thread-safe.
 */
final class JournalTrial {

	private final OperationTable table;

	private final OperationTableScan scan;

	JournalTrial(OperationTable table, OperationTableScan scan) {
		this.table = table;
		this.scan = scan;
	}

	/**
	 * Try it.
	 * @param connection a connection in auto-commit mode
	 * @param dialect the dialect of its database
	 * @throws InvalidFencedOperationException if the table is not what it must be
	 * @throws SQLException if it is missing, or the database cannot be asked
	 */
	void run(Connection connection, DatabaseDialect dialect) throws SQLException {
		String random = UUID.randomUUID().toString();
		JournalEntry entry = new JournalEntry(OperationKey.of(random, "trial", random), OperationState.RUNNING, random,
				random, new FencingToken(1, random), false, 1, null);
		connection.setAutoCommit(false);
		try {
			this.scan.findDue(connection, dialect, random, List.of(), 1);
			this.table.insert(connection, dialect, entry);
			check(entry.equals(this.table.find(connection, entry.key())), dialect,
					"it does not keep what is written to it");
			check(!insertAgain(connection, dialect, entry), dialect,
					"it has no primary key or unique index on 'operation_key'");
		}
		catch (SQLException ex) {
			if (!dialect.isMissingTable(ex) && dialect.isMisfit(ex)) {
				throw unusable(dialect, "it cannot be written, '" + firstLine(ex) + "'", ex);
			}
			throw ex;
		}
		finally {
			connection.rollback();
			connection.setAutoCommit(true);
		}
		check(this.table.find(connection, entry.key()) == null, dialect, "its engine does not roll back");
	}

	private boolean insertAgain(Connection connection, DatabaseDialect dialect, JournalEntry entry)
			throws SQLException {
		try {
			this.table.insert(connection, dialect, entry);
			return true;
		}
		catch (SQLException ex) {
			if (!JdbcOperationJournal.isDuplicate(ex)) {
				throw ex;
			}
			return false;
		}
	}

	// without the statement or its position
	private static String firstLine(SQLException ex) {
		return String.valueOf(ex.getMessage()).lines().findFirst().orElse("");
	}

	private void check(boolean asItShould, DatabaseDialect dialect, String otherwise) {
		if (!asItShould) {
			throw unusable(dialect, otherwise, null);
		}
	}

	private InvalidFencedOperationException unusable(DatabaseDialect dialect, String problem,
			@Nullable SQLException cause) {
		return new InvalidFencedOperationException("Table '" + this.table.getName() + "' cannot be the journal: "
				+ problem + "; create it with the statements of 'classpath:" + dialect.getSchemaScript()
				+ "', and let the user of the application SELECT, INSERT, UPDATE and DELETE there", cause);
	}

}
