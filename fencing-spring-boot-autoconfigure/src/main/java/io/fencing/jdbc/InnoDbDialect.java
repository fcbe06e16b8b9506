package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;

/**
 * MySQL 8 and newer, or MariaDB 10.6 and newer, with a fence table in InnoDB. One of each
 * family may be reached with the driver of the other.
 */
final class InnoDbDialect implements DatabaseDialect {

	// a column of others without a default, for which there is no SQL state
	private static final int NO_DEFAULT = 1364;

	private static final TransactionIdentity IDENTITY = TransactionIdentity.bySavepoint(1305);

	private static final int DEADLOCK = 1213;

	// "Record has changed since last read", at MariaDB's innodb_snapshot_isolation
	private static final int RECORD_CHANGED = 1020;

	// and lock wait time-out, no wait, duplicate key, cancelled
	private static final Set<Integer> CONFLICTS = Set.of(DEADLOCK, RECORD_CHANGED, 1205, 3572, 1062, 1317);

	// MySQL's driver does not tell the error of the server then
	private static final String CANCELLED = "com.mysql.cj.jdbc.exceptions.MySQLStatementCancelledException";

	// table and database
	private static final Set<Integer> MISSING_TABLES = Set.of(1146, 1049);

	// the server, as a whole
	private static final Set<Integer> READ_ONLY = Set.of(1290, 1836);

	private static final Set<String> DEFINITIONS = Set.of("ALTER", "ANALYZE", "CACHE", "CHANGE", "CHECK", "CLONE",
			"CREATE", "DROP", "FLUSH", "GRANT", "IMPORT", "INSTALL", "LOCK", "OPTIMIZE", "PURGE", "RENAME", "REPAIR",
			"RESET", "RESTART", "REVOKE", "SHUTDOWN", "STOP", "TRUNCATE", "UNINSTALL", "UNLOCK", "XA");

	private final String name;

	private final boolean mariaDb;

	private final String lockForHold;

	InnoDbDialect(String name, boolean mariaDb, String lockForHold) {
		this.name = name;
		this.mariaDb = mariaDb;
		this.lockForHold = lockForHold;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public boolean supports(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		if (!"MySQL".equals(product) && !"MariaDB".equals(product)) {
			return false;
		}
		ServerVersion version = ServerVersion.of(connection);
		return version.isMariaDb() == this.mariaDb
				&& (this.mariaDb ? version.isAtLeast(10, 6) : version.isAtLeast(8, 0));
	}

	@Override
	public String raise(TableName table) {
		// as a join in this order, since with a sub-select MariaDB scans, and so waits
		// for,
		// the rows of other resources; LIMIT keeps it from being merged into the update
		return "UPDATE (SELECT resource_key, ? AS new_token, ? AS new_owner FROM " + table
				+ " WHERE resource_key = ? AND token < ? LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked STRAIGHT_JOIN "
				+ table + " AS fence ON fence.resource_key = unlocked.resource_key AND fence.token < ? "
				+ "SET fence.token = unlocked.new_token, fence.owner = unlocked.new_owner, "
				+ "fence.claimed_at = UTC_TIMESTAMP(6)";
	}

	@Override
	public String insert(TableName table) {
		// neither IGNORE, which hides other errors, nor ON DUPLICATE KEY, which waits
		return "INSERT INTO " + table + " (resource_key, namespace, token, owner, claimed_at) "
				+ "SELECT ?, ?, ?, ?, UTC_TIMESTAMP(6) FROM DUAL WHERE ? > " + clock();
	}

	@Override
	public String clock() {
		return "UNIX_TIMESTAMP() * 1000000";
	}

	@Override
	public String currentTime() {
		return "UTC_TIMESTAMP(6)";
	}

	@Override
	public String timeFromNow() {
		return currentTime() + " + INTERVAL ? SECOND";
	}

	@Override
	public Instant readTime(ResultSet row, int column) throws SQLException {
		return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
	}

	@Override
	public String expired() {
		return "token < " + clock() + " - ? AND claimed_at < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND";
	}

	@Override
	public String removeExpired(TableName table, String keys) {
		// a join for the same reasons as above
		return "DELETE fence FROM (SELECT resource_key FROM " + table + " WHERE resource_key IN (" + keys + ") AND "
				+ expired() + " LIMIT 1000 FOR UPDATE SKIP LOCKED) AS unlocked STRAIGHT_JOIN " + table
				+ " AS fence ON fence.resource_key = unlocked.resource_key";
	}

	@Override
	public String lockForHold() {
		// SKIP LOCKED and not NOWAIT: on MariaDB that is a lock wait time-out, which
		// 'innodb_rollback_on_timeout' lets roll back the transaction
		return this.lockForHold;
	}

	@Override
	public TransactionIdentity transactionIdentity() {
		return IDENTITY;
	}

	@Override
	public boolean replacesTransaction(SQLException ex) {
		return ex.getErrorCode() == DEADLOCK || ex.getErrorCode() == RECORD_CHANGED;
	}

	@Override
	public boolean commitsImplicitly(List<String> words) {
		return switch (words.get(0)) {
			case "CREATE", "DROP" -> !isTemporary(words);
			case "LOAD" -> second(words).equals("INDEX");
			case "SET" -> second(words).equals("PASSWORD") || second(words).equals("DEFAULT");
			default -> DEFINITIONS.contains(words.get(0));
		};
	}

	private static boolean isTemporary(List<String> words) {
		return second(words).equals("TEMPORARY")
				|| (words.size() > 3 && second(words).equals("OR") && words.get(3).equals("TEMPORARY"));
	}

	private static String second(List<String> words) {
		return (words.size() > 1) ? words.get(1) : "";
	}

	@Override
	public boolean isConflict(SQLException ex) {
		return CONFLICTS.contains(ex.getErrorCode()) || ex.getClass().getName().equals(CANCELLED);
	}

	@Override
	public boolean isReadOnly(SQLException ex) {
		return READ_ONLY.contains(ex.getErrorCode()) || DatabaseDialect.super.isReadOnly(ex);
	}

	@Override
	public boolean isMissingTable(SQLException ex) {
		return MISSING_TABLES.contains(ex.getErrorCode());
	}

	@Override
	public boolean isMisfit(SQLException ex) {
		return ex.getErrorCode() == NO_DEFAULT || DatabaseDialect.super.isMisfit(ex);
	}

}
