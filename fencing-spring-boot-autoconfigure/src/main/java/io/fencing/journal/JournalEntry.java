package io.fencing.journal;

import io.fencing.FencingToken;
import org.jspecify.annotations.Nullable;

/**
 * What the journal shows about one identity. Immutable; the result is not to be changed.
 *
 * @param key the identity
 * @param state its state, never {@link OperationState#ABSENT}
 * @param resources the keys of the resources that it is about, in one sorted text
 * @param input the fingerprint of its input
 * @param token the token and owner of its last attempt
 * @param external whether it has effects outside the database
 * @param attempts how many attempts were started, the last one included
 * @param result the encoded result or exception, {@code null} while there is none
 */
@SuppressWarnings("ArrayRecordComponent")
public record JournalEntry(OperationKey key, OperationState state, String resources, String input, FencingToken token,
		boolean external, int attempts, byte @Nullable [] result) {

	/**
	 * The attempt that follows.
	 * @param next its token and owner
	 * @param external whether it has effects outside the database: this version of the
	 * application may know better than the one before
	 * @return the entry when it has started
	 */
	public JournalEntry attempt(FencingToken next, boolean external) {
		return new JournalEntry(this.key, OperationState.RUNNING, this.resources, this.input, next, external,
				this.attempts + 1, null);
	}

}
