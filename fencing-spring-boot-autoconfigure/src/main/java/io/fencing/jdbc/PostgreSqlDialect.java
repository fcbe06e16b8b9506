package io.fencing.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * PostgreSQL 12 and newer.
 */
final class PostgreSqlDialect implements DatabaseDialect {

	private static final Set<String> WITHOUT_TRANSACTION = Set.of("DATABASE", "SYSTEM", "TABLESPACE");

	// serialization failure, deadlock, lock not available, statement cancelled
	private static final Set<String> CONFLICTS = Set.of("40001", "40P01", "55P03", "57014");

	private static final String FAILED = "25P02";

	private static final @Nullable Method TRANSACTION_STATE = findTransactionState();

	// table and schema
	private static final Set<String> MISSING_TABLES = Set.of("42P01", "3F000");

	private static @Nullable Method findTransactionState() {
		String driver = "org.postgresql.core.BaseConnection";
		ClassLoader loader = PostgreSqlDialect.class.getClassLoader();
		return ClassUtils.isPresent(driver, loader)
				? ClassUtils.getMethodIfAvailable(ClassUtils.resolveClassName(driver, loader), "getTransactionState")
				: null;
	}

	@Override
	public String getName() {
		return "postgresql";
	}

	@Override
	public boolean supports(Connection connection) throws SQLException {
		return "PostgreSQL".equals(connection.getMetaData().getDatabaseProductName())
				&& ServerVersion.of(connection).isAtLeast(12, 0);
	}

	@Override
	public String raise(TableName table) {
		// the sub-select skips a row that is locked, and the update can only reach a row
		// that the sub-select has locked; NO KEY as foreign keys lock the key only
		return "UPDATE " + table + " SET token = ?, owner = ?, claimed_at = CURRENT_TIMESTAMP "
				+ "WHERE resource_key = (SELECT resource_key FROM " + table
				+ " WHERE resource_key = ? AND token < ? FOR NO KEY UPDATE SKIP LOCKED) AND token < ? RETURNING owner";
	}

	@Override
	public String insert(TableName table) {
		return "INSERT INTO " + table + " (resource_key, namespace, token, owner, claimed_at) "
				+ "SELECT ?, ?, ?, ?, CURRENT_TIMESTAMP " + "WHERE CAST(? AS BIGINT) > " + clock() + " "
				+ "ON CONFLICT DO NOTHING RETURNING owner";
	}

	@Override
	public String lockForHold() {
		// SKIP LOCKED and not NOWAIT: an error would abort the transaction
		return "FOR SHARE SKIP LOCKED";
	}

	@Override
	public String readOnlyTransaction() {
		return "current_setting('transaction_read_only') = 'on'";
	}

	@Override
	public boolean refusesTransaction(List<String> words) {
		return switch (words.get(0)) {
			case "VACUUM" -> true;
			case "CREATE", "DROP", "REINDEX", "ALTER" ->
				words.contains("CONCURRENTLY") || (words.size() > 1 && WITHOUT_TRANSACTION.contains(words.get(1)));
			default -> false;
		};
	}

	@Override
	public boolean hasFailed(Connection connection) throws SQLException {
		Method state = TRANSACTION_STATE;
		if (state != null && connection.isWrapperFor(state.getDeclaringClass())) {
			// the driver knows, since each answer tells it
			Object driver = connection.unwrap(state.getDeclaringClass());
			return "FAILED".equals(String.valueOf(ReflectionUtils.invokeMethod(state, driver)));
		}
		try (Statement statement = connection.createStatement()) {
			statement.execute("SELECT 1");
			return false;
		}
		catch (SQLException ex) {
			if (FAILED.equals(ex.getSQLState())) {
				return true;
			}
			throw ex;
		}
	}

	@Override
	public boolean isConflict(SQLException ex) {
		return ex.getSQLState() != null && CONFLICTS.contains(ex.getSQLState());
	}

	@Override
	public boolean isMissingTable(SQLException ex) {
		return ex.getSQLState() != null && MISSING_TABLES.contains(ex.getSQLState());
	}

}
