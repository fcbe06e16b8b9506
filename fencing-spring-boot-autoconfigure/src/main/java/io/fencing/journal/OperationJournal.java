package io.fencing.journal;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import io.fencing.OperationTransaction;
import org.jspecify.annotations.Nullable;

/**
 * A store of what is known about operation identities. Each move is guarded by the state,
 * token, owner and number of attempts that the mover has seen, so that of two only one
 * succeeds. Whatever it does outside of a {@link JournalTransaction} is durable when it
 * returns. Times are those of the store. Thread-safe.
 */
public interface OperationJournal {

	/**
	 * Look whether an attempt could begin on this thread, before anything is asked of
	 * anybody.
	 * @param operation the name of the operation
	 * @param transaction how it would begin
	 * @throws io.fencing.InvalidFencedOperationException if it could not: its record
	 * would commit with something else
	 */
	void check(String operation, OperationTransaction transaction);

	/**
	 * Look an identity up.
	 * @param key the identity
	 * @return what has been committed, {@code null} if that is nothing
	 * @throws JournalFailureException if the store does not answer
	 */
	@Nullable JournalEntry find(OperationKey key);

	/**
	 * Start an attempt.
	 * @param attempt the entry as it is to be
	 * @param seen what it is based on, {@code null} if nothing was there
	 * @return whether it has started; otherwise somebody else has moved, look again
	 * @throws JournalFailureException if the store does not answer
	 */
	boolean start(JournalEntry attempt, @Nullable JournalEntry seen);

	/**
	 * Make a move of its own.
	 * @param seen what it is based on
	 * @param move the move
	 * @param result what to record
	 * @return whether it was made; otherwise somebody else has moved
	 * @throws IllegalStateException if the move is not legal
	 * @throws JournalFailureException if the store does not answer
	 */
	boolean move(JournalEntry seen, JournalMove move, byte @Nullable [] result);

	/**
	 * Begin the transaction of an attempt on this thread.
	 * @param attempt the attempt
	 * @param transaction how to begin it
	 * @return the transaction
	 */
	JournalTransaction begin(JournalEntry attempt, OperationTransaction transaction);

	/**
	 * Find operations that somebody should look after: attempts that may be dead, and
	 * what is undecided.
	 * @param namespace their namespace
	 * @param decided the names of those whose decision can be found out
	 * @param limit the greatest number to find
	 * @return those that are due, the longest due first
	 * @throws JournalFailureException if the store does not answer
	 */
	List<OpenOperation> findDue(String namespace, Collection<String> decided, int limit);

	/**
	 * Put off when an operation is due next, before looking after it: of all nodes that
	 * have found it only one succeeds.
	 * @param seen the operation
	 * @param delay the time from now
	 * @return whether it was put off; otherwise somebody else looks after it
	 * @throws JournalFailureException if the store does not answer
	 */
	boolean putOff(OpenOperation seen, Duration delay);

	/**
	 * Find what is undecided.
	 * @param namespace its namespace
	 * @param limit the greatest number to find
	 * @return what is undecided, the oldest first
	 * @throws JournalFailureException if the store does not answer
	 */
	List<OpenOperation> findUndecided(String namespace, int limit);

	/**
	 * Look at start whether the store can keep anything.
	 * @throws io.fencing.InvalidFencedOperationException if it cannot until somebody has
	 * changed something
	 * @throws JournalFailureException if it does not answer
	 */
	void verify();

}
