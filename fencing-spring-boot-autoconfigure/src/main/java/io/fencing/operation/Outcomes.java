package io.fencing.operation;

import io.fencing.AdmissionTimeoutException;
import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencingException;
import io.fencing.JournalUnavailableException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OperationOutcome;
import io.fencing.OutcomeUnknownException;
import io.fencing.StaleTokenException;
import org.jspecify.annotations.Nullable;

/**
 * Names the outcome of a call.
 */
final class Outcomes {

	private Outcomes() {
	}

	static OperationOutcome of(@Nullable Throwable ex) {
		if (ex == null) {
			return OperationOutcome.SUCCESS;
		}
		if (!(ex instanceof FencingException)) {
			return OperationOutcome.ERROR;
		}
		if (ex instanceof LeaseNotAcquiredException) {
			return OperationOutcome.BUSY;
		}
		if (ex instanceof CoordinatorUnavailableException || ex instanceof JournalUnavailableException
				|| ex instanceof ApplicationShutdownException) {
			return OperationOutcome.UNAVAILABLE;
		}
		if (ex instanceof LeaseLostException) {
			return OperationOutcome.LOST;
		}
		if (ex instanceof StaleTokenException) {
			return OperationOutcome.STALE;
		}
		if (ex instanceof AdmissionTimeoutException) {
			return OperationOutcome.ADMISSION_TIMEOUT;
		}
		if (ex instanceof OutcomeUnknownException) {
			return OperationOutcome.UNKNOWN;
		}
		return OperationOutcome.REFUSED;
	}

}
