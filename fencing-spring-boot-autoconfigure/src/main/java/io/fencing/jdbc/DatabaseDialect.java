package io.fencing.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

/**
 * What differs between the databases that can be fenced. Recognised by the product that
 * the driver reports, never by the URL.
 */
public enum DatabaseDialect {

	/**
	 * PostgreSQL 12 and newer.
	 */
	POSTGRESQL("PostgreSQL") {

		@Override
		public String returning(String statement, String column) {
			return statement + " RETURNING " + column;
		}

		@Override
		public String insertIfAbsent(String insert) {
			return insert + " ON CONFLICT DO NOTHING";
		}

		@Override
		public String lockForClaim() {
			// conflicts with FOR SHARE, but not with the FOR KEY SHARE of foreign keys
			return "FOR NO KEY UPDATE SKIP LOCKED";
		}

		@Override
		public String lockForHold() {
			// SKIP LOCKED and not NOWAIT: an error would abort the transaction
			return "FOR SHARE SKIP LOCKED";
		}

		@Override
		public boolean sharesLocks() {
			return true;
		}

		@Override
		public boolean limitsSingleStatements() {
			return true;
		}

		@Override
		public String readOnlyTransaction() {
			return "current_setting('transaction_read_only') = 'on'";
		}

		@Override
		public @Nullable String transactionId() {
			return null;
		}

		@Override
		public boolean replacesTransaction(SQLException ex) {
			return false;
		}

		@Override
		public boolean commitsImplicitly(String firstWord) {
			return false;
		}

		@Override
		public boolean refusesTransaction(List<String> words) {
			String first = words.get(0);
			return switch (first) {
				case "VACUUM" -> true;
				case "CREATE", "DROP", "REINDEX", "ALTER" ->
					words.contains("CONCURRENTLY") || (words.size() > 1 && WITHOUT_TRANSACTION.contains(words.get(1)));
				default -> false;
			};
		}

	},

	/**
	 * H2 2.2.220 and newer, in every compatibility mode.
	 */
	H2("H2") {

		@Override
		public String returning(String statement, String column) {
			return "SELECT " + column + " FROM FINAL TABLE (" + statement + ")";
		}

		@Override
		public String insertIfAbsent(String insert) {
			// a duplicate is a conflict, since an error leaves H2's transaction alone
			return insert;
		}

		@Override
		public String lockForClaim() {
			return "FOR UPDATE SKIP LOCKED";
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
		public boolean limitsSingleStatements() {
			// the time-out of one statement stays that of its connection
			return false;
		}

		@Override
		public String readOnlyTransaction() {
			// setReadOnly() is ignored
			return "FALSE";
		}

		@Override
		public String transactionId() {
			return "SELECT TRANSACTION_ID()";
		}

		@Override
		public boolean replacesTransaction(SQLException ex) {
			// "The current transaction was rolled back", and the next statement starts
			// another
			return "40001".equals(ex.getSQLState());
		}

		@Override
		public boolean commitsImplicitly(String firstWord) {
			return DEFINITIONS.contains(firstWord);
		}

		@Override
		public boolean refusesTransaction(List<String> words) {
			return false;
		}

	};

	private static final Set<String> WITHOUT_TRANSACTION = Set.of("DATABASE", "SYSTEM", "TABLESPACE");

	private static final Set<String> DEFINITIONS = Set.of("CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "GRANT",
			"REVOKE", "ANALYZE", "RUNSCRIPT", "SHUTDOWN", "CHECKPOINT", "BACKUP");

	// serialization failure, deadlock, lock not available, duplicate key, statement
	// cancelled, H2's lock time-out and concurrent update
	private static final Set<String> CONFLICTS = Set.of("40001", "40P01", "55P03", "23505", "57014", "HYT00", "90131");

	// PostgreSQL's table and schema, H2's table in three spellings and schema
	private static final Set<String> MISSING_TABLES = Set.of("42P01", "3F000", "42S02", "42S03", "42S04", "90079");

	private final String product;

	DatabaseDialect(String product) {
		this.product = product;
	}

	/**
	 * Find the dialect of a database.
	 * @param storage the name of the storage, for the message
	 * @param product what {@link java.sql.DatabaseMetaData#getDatabaseProductName()}
	 * answers
	 * @return the dialect
	 * @throws InvalidFencedOperationException if the product cannot be fenced
	 */
	public static DatabaseDialect of(String storage, String product) {
		for (DatabaseDialect dialect : values()) {
			if (dialect.product.equals(product)) {
				return dialect;
			}
		}
		throw new InvalidFencedOperationException("Storage '" + storage + "' is a database of product '" + product
				+ "', for which there is no fence yet; "
				+ "use PostgreSQL or H2, or take this DataSource out of the fenced storages");
	}

	/**
	 * The name of the storage in events and messages.
	 * @return a name such as {@code postgresql}
	 */
	public String getStorage() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The classpath location of the script that creates the tables.
	 * @return the location
	 */
	public String getSchemaScript() {
		return "io/fencing/jdbc/schema-" + getStorage() + ".sql";
	}

	/**
	 * Let a data change statement answer with the rows as it has stored them.
	 * @param statement the statement
	 * @param column the column to answer with
	 * @return a statement with a result set
	 */
	public abstract String returning(String statement, String column);

	/**
	 * Let an insert do nothing, or fail without harm, if the row is there.
	 * @param insert the insert
	 * @return the statement
	 */
	public abstract String insertIfAbsent(String insert);

	/**
	 * The clause that locks a row against holds and other claims, and skips it if it is
	 * locked.
	 * @return the clause
	 */
	public abstract String lockForClaim();

	/**
	 * The clause that locks a row against claims, and skips it if it is locked.
	 * @return the clause
	 */
	public abstract String lockForHold();

	/**
	 * Whether several transactions can hold a row at once.
	 * @return whether they can
	 */
	public abstract boolean sharesLocks();

	/**
	 * Whether a time-out of one statement leaves the other statements of its connection
	 * alone.
	 * @return whether it does
	 */
	public abstract boolean limitsSingleStatements();

	/**
	 * The expression that tells whether the server itself refuses writes in the current
	 * transaction.
	 * @return a boolean expression
	 */
	public abstract String readOnlyTransaction();

	/**
	 * The query for the identity of the current transaction.
	 * @return the query, or {@code null} where the server never replaces a transaction
	 * under its client
	 */
	public abstract @Nullable String transactionId();

	/**
	 * Whether the server has rolled the transaction back with this error and goes on in a
	 * new one.
	 * @param ex the error
	 * @return whether it has
	 */
	public abstract boolean replacesTransaction(SQLException ex);

	/**
	 * Whether a statement commits the transaction that it is sent in.
	 * @param firstWord its first word, in upper case
	 * @return whether it does
	 */
	public abstract boolean commitsImplicitly(String firstWord);

	/**
	 * Whether the server refuses a statement inside a transaction.
	 * @param words its first words, in upper case, at least one
	 * @return whether it does
	 */
	public abstract boolean refusesTransaction(List<String> words);

	/**
	 * Whether the statement lost against another one and may be sent again.
	 * @param ex the error
	 * @return whether it may
	 */
	public boolean isConflict(SQLException ex) {
		return ex.getSQLState() != null && CONFLICTS.contains(ex.getSQLState());
	}

	/**
	 * Whether the table or its schema does not exist.
	 * @param ex the error
	 * @return whether it is missing
	 */
	public boolean isMissingTable(SQLException ex) {
		return ex.getSQLState() != null && MISSING_TABLES.contains(ex.getSQLState());
	}

}
