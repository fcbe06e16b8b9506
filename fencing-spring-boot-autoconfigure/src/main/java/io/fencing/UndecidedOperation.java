package io.fencing;

import java.time.Instant;

/**
 * An operation with effects outside the database of which nobody knows whether they have
 * happened: its last attempt has certainly ended, without an answer. Immutable.
 *
 * @param name the name of the operation
 * @param operationId its identity, as the caller gave it
 * @param token the token of the attempt, by which a system that was sent it can tell what
 * it has seen
 * @param attempts how many attempts were started, this one included
 * @param since since when it is undecided, by the database's clock
 * @param checks how often an {@link OperationReconciler} has been asked about it
 */
public record UndecidedOperation(String name, String operationId, FencingToken token, int attempts, Instant since,
		int checks) {
}
