package io.fencing.journal;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What the journal knows about an operation identity, and which moves are legal from
 * there.
 */
public enum OperationState {

	/**
	 * Nothing: it has not come yet, or it was forgotten after the retention.
	 */
	ABSENT,

	/**
	 * An attempt was started. Whether it still runs, its lease tells; whether it has
	 * committed, this state does: it has not, as far as the reader's snapshot reaches.
	 */
	RUNNING,

	/**
	 * Committed, with the result that every retry is answered with.
	 */
	COMPLETED,

	/**
	 * Ended by an exception that is the answer for every retry.
	 */
	REJECTED,

	/**
	 * The last attempt has certainly changed nothing; the next call runs.
	 */
	FAILED,

	/**
	 * An attempt with effects outside the database has neither certainly happened nor
	 * certainly not.
	 */
	UNDECIDED;

	private static final Map<OperationState, Map<JournalMove, OperationState>> MOVES = new EnumMap<>(
			OperationState.class);

	static {
		ABSENT.on(JournalMove.START, RUNNING);
		FAILED.on(JournalMove.START, RUNNING);
		RUNNING.on(JournalMove.TAKE_OVER, RUNNING);
		RUNNING.on(JournalMove.COMPLETE, COMPLETED);
		RUNNING.on(JournalMove.REJECT, REJECTED);
		RUNNING.on(JournalMove.FAIL, FAILED);
		RUNNING.on(JournalMove.DOUBT, UNDECIDED);
		UNDECIDED.on(JournalMove.COMPLETE, COMPLETED);
		UNDECIDED.on(JournalMove.FAIL, FAILED);
		COMPLETED.on(JournalMove.FORGET, ABSENT);
		REJECTED.on(JournalMove.FORGET, ABSENT);
		FAILED.on(JournalMove.FORGET, ABSENT);
	}

	private void on(JournalMove move, OperationState next) {
		MOVES.computeIfAbsent(this, (absent) -> new EnumMap<>(JournalMove.class)).put(move, next);
	}

	/**
	 * Where a move leads.
	 * @param move the move
	 * @return the state after it, empty if it is not legal here
	 */
	public Optional<OperationState> after(JournalMove move) {
		return Optional.ofNullable(MOVES.getOrDefault(this, Map.of()).get(move));
	}

	/**
	 * Whether retries are answered with what is recorded.
	 * @return whether they are
	 */
	public boolean isAnswer() {
		return this == COMPLETED || this == REJECTED;
	}

}
