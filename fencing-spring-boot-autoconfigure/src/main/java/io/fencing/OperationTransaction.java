package io.fencing;

import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The transaction that the body of an operation with an identity runs in, begun by the
 * starter so that the record of the operation commits with the body's work. Immutable.
 *
 * @param manager bean name of the transaction manager, {@code null} for that of the
 * journal's database
 * @param isolation the isolation level as {@link java.sql.Connection} numbers it,
 * {@code -1} for that of the database
 * @param timeoutSeconds the time-out, {@code -1} for that of the manager
 * @param rollbackOn whether the transaction is rolled back when the body throws
 */
public record OperationTransaction(@Nullable String manager, int isolation, int timeoutSeconds,
		Predicate<Throwable> rollbackOn) {

	/**
	 * A transaction as the manager has it, rolled back whatever the body throws.
	 */
	public static final OperationTransaction DEFAULT = new OperationTransaction(null, -1, -1, (thrown) -> true);

}
