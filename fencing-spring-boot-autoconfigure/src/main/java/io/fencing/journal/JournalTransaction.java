package io.fencing.journal;

import org.jspecify.annotations.Nullable;

/**
 * The transaction in which an attempt does its work and is recorded. Bound to its thread.
 */
public interface JournalTransaction {

	/**
	 * Whether it can only be rolled back.
	 * @return whether somebody has said so
	 */
	boolean isRollbackOnly();

	/**
	 * Write what a persistence context still has to write.
	 * @throws RuntimeException if that failed
	 */
	void writePending();

	/**
	 * Record the end of the attempt and commit.
	 * @param move how it ended
	 * @param result what to record
	 * @throws CommitUnknownException if the commit was sent and no answer came back
	 * @throws RuntimeException if it was certainly rolled back, or has failed after the
	 * commit
	 */
	void commit(JournalMove move, byte @Nullable [] result);

	/**
	 * Whether it has certainly committed.
	 * @return whether it has
	 */
	boolean isCommitted();

	/**
	 * Roll back.
	 * @throws RuntimeException if that failed; the server does it when the connection is
	 * gone
	 */
	void rollback();

}
