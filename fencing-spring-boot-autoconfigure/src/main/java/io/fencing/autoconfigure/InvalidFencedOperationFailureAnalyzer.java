package io.fencing.autoconfigure;

import io.fencing.InvalidFencedOperationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says in the start-up report what is wrong with a fenced operation and what to change.
 */
final class InvalidFencedOperationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidFencedOperationException> {

	// every message of ours is a fact, a semicolon and what to do
	private static final String REMEDY = "; ";

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InvalidFencedOperationException cause) {
		String message = String.valueOf(cause.getMessage());
		int remedy = message.lastIndexOf(REMEDY);
		return (remedy < 0) ? new FailureAnalysis(message, "Correct the operation that is named above.", cause)
				: new FailureAnalysis(sentence(message.substring(0, remedy)),
						sentence(message.substring(remedy + REMEDY.length())), cause);
	}

	private static String sentence(String clause) {
		return Character.toUpperCase(clause.charAt(0)) + clause.substring(1) + ".";
	}

}
