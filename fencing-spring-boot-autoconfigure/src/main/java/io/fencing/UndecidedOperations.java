package io.fencing;

import java.util.List;

/**
 * The operations that wait for a decision, for a person or a tool: those with effects
 * outside the database whose last attempt has ended without an answer. Retention never
 * removes one. Thread-safe.
 */
public interface UndecidedOperations {

	/**
	 * Find undecided operations of this application's namespace.
	 * @param limit the greatest number to find, above zero
	 * @return the oldest ones, oldest first
	 * @throws JournalUnavailableException if the journal does not answer
	 */
	List<UndecidedOperation> find(int limit);

	/**
	 * Decide what has become of one of them. The decision is durable when this returns.
	 * @param operation the operation, as it was found
	 * @param decision the decision; nothing changes if it is
	 * {@link OperationDecision.Kind#UNKNOWN}
	 * @return whether the decision was recorded; otherwise somebody else has decided, or
	 * another attempt has begun meanwhile
	 * @throws InvalidFencedOperationException if the result cannot be recorded
	 * @throws JournalUnavailableException if the journal does not answer; whether it has
	 * recorded the decision, {@link #find} tells
	 */
	boolean decide(UndecidedOperation operation, OperationDecision decision);

}
