package io.fencing.jdbc;

import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * How to find out whether a transaction is still the one that took a hold: some servers
 * roll a transaction back or commit it on their own, and go on in another one without a
 * word.
 *
 * @param query the query for the identity of the current transaction
 * @param missingSavepoint the error code of a savepoint that is not there: one is set
 * after the hold, and it is gone with its transaction
 */
public record TransactionIdentity(@Nullable String query, @Nullable Integer missingSavepoint) {

	/**
	 * The server never replaces a transaction.
	 */
	public static final TransactionIdentity STABLE = new TransactionIdentity(null, null);

	/**
	 * The server tells the identity.
	 * @param query the query for it
	 * @return the way to find out
	 */
	public static TransactionIdentity byQuery(String query) {
		return new TransactionIdentity(query, null);
	}

	/**
	 * The server has no identity, but savepoints.
	 * @param missing the vendor's error code when a savepoint that is not there is
	 * released
	 * @return the way to find out
	 */
	public static TransactionIdentity bySavepoint(int missing) {
		return new TransactionIdentity(null, missing);
	}

	/**
	 * Whether a savepoint tells.
	 * @return whether it does
	 */
	public boolean isBySavepoint() {
		return this.missingSavepoint != null;
	}

	/**
	 * Whether the error of a release means that the savepoint is gone.
	 * @param ex the error
	 * @return whether it is
	 */
	public boolean isMissing(SQLException ex) {
		return this.missingSavepoint != null && this.missingSavepoint == ex.getErrorCode();
	}

}
