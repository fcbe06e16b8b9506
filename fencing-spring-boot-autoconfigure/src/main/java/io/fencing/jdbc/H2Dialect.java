package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/**
 * H2 2.2.220 and newer, in every compatibility mode.
 */
final class H2Dialect implements DatabaseDialect {

	private static final TransactionIdentity IDENTITY = TransactionIdentity.byQuery("SELECT TRANSACTION_ID()");

	private static final Set<String> DEFINITIONS = Set.of("CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "GRANT",
			"REVOKE", "ANALYZE", "RUNSCRIPT", "SHUTDOWN", "CHECKPOINT", "BACKUP");

	// deadlock, duplicate key, statement cancelled, lock time-out, concurrent update
	private static final Set<String> CONFLICTS = Set.of("40001", "23505", "57014", "HYT00", "90131");

	// the table in three spellings, and the schema
	private static final Set<String> MISSING_TABLES = Set.of("42S02", "42S03", "42S04", "90079");

	@Override
	public String getName() {
		return "h2";
	}

	@Override
	public boolean supports(Connection connection) throws SQLException {
		return "H2".equals(connection.getMetaData().getDatabaseProductName());
	}

	@Override
	public String raise(TableName table) {
		return "SELECT owner FROM FINAL TABLE (UPDATE " + table
				+ " SET token = ?, owner = ?, claimed_at = CURRENT_TIMESTAMP "
				+ "WHERE resource_key = (SELECT resource_key FROM " + table
				+ " WHERE resource_key = ? AND token < ? FOR UPDATE SKIP LOCKED) AND token < ?)";
	}

	@Override
	public String insert(TableName table) {
		return "SELECT owner FROM FINAL TABLE (INSERT INTO " + table
				+ " (resource_key, namespace, token, owner, claimed_at) SELECT ?, ?, ?, ?, CURRENT_TIMESTAMP "
				+ "WHERE CAST(? AS BIGINT) > " + clock() + ")";
	}

	@Override
	public String lockForHold() {
		return "FOR UPDATE SKIP LOCKED";
	}

	@Override
	public boolean sharesLocks() {
		return false;
	}

	@Override
	public TransactionIdentity transactionIdentity() {
		return IDENTITY;
	}

	@Override
	public boolean replacesTransaction(SQLException ex) {
		// "The current transaction was rolled back", and the next statement starts
		// another
		return "40001".equals(ex.getSQLState());
	}

	@Override
	public boolean commitsImplicitly(List<String> words) {
		return DEFINITIONS.contains(words.get(0));
	}

	@Override
	public boolean isConflict(SQLException ex) {
		return ex.getSQLState() != null && CONFLICTS.contains(ex.getSQLState());
	}

	@Override
	public boolean isMissingTable(SQLException ex) {
		return ex.getSQLState() != null && MISSING_TABLES.contains(ex.getSQLState());
	}

	@Override
	public boolean isReadOnly(SQLException ex) {
		return "90097".equals(ex.getSQLState()) || DatabaseDialect.super.isReadOnly(ex);
	}

}
