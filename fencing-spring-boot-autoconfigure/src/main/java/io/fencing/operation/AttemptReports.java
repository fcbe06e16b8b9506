package io.fencing.operation;

import io.fencing.AttemptEvent;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalMove;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells what becomes of operations with an identity: to listeners, and to the log. Never
 * shows an input, a result or a raw identity. Thread-safe.
 */
final class AttemptReports {

	private static final Logger logger = LoggerFactory.getLogger(AttemptReports.class);

	private final FencedResourceFactory fingerprints;

	private final FencingListeners listeners;

	AttemptReports(FencedResourceFactory fingerprints, FencingListeners listeners) {
		this.fingerprints = fingerprints;
		this.listeners = listeners;
	}

	/**
	 * Tell what has happened.
	 * @param attempt the attempt that it has happened to
	 * @param event what has happened
	 */
	void tell(JournalEntry attempt, AttemptEvent event) {
		String operation = attempt.key().name();
		String identity = describe(attempt);
		if (event == AttemptEvent.UNDECIDED) {
			logger.warn(
					"Operation '{}', identity {}: attempt {} has ended and may have had effects outside the "
							+ "database; find out whether it has happened and decide it",
					operation, identity, attempt.attempts());
		}
		else {
			logger.debug("Operation '{}', identity {}, attempt {}: {}", operation, identity, attempt.attempts(), event);
		}
		this.listeners.onAttempt(operation, identity, attempt.attempts(), event);
	}

	/**
	 * Tell what an attempt has become.
	 * @param attempt the attempt
	 * @param move the move that was recorded
	 */
	void tell(JournalEntry attempt, JournalMove move) {
		tell(attempt, switch (move) {
			case START, TAKE_OVER -> AttemptEvent.STARTED;
			case COMPLETE -> AttemptEvent.COMPLETED;
			case REJECT -> AttemptEvent.REJECTED;
			case DOUBT -> AttemptEvent.UNDECIDED;
			case FAIL, FORGET -> AttemptEvent.FAILED;
		});
	}

	/**
	 * What stands for the identity of an attempt in logs.
	 * @param attempt the attempt
	 * @return its fingerprint
	 */
	String describe(JournalEntry attempt) {
		return this.fingerprints.fingerprint(attempt.key().identity());
	}

}
