package io.fencing.sample.web;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;

import io.fencing.AdmissionTimeoutException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencingException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OperationConflictException;
import io.fencing.OutcomeUnknownException;
import io.fencing.StaleTokenException;
import io.fencing.sample.ledger.RefusedMovementException;
import io.fencing.sample.ledger.UnknownAccountException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Failures as problem details (RFC 9457). The types are stable, the texts are not; no
 * answer shows the raw name of a resource that the caller did not send.
 */
@RestControllerAdvice
class ProblemAdvice {

	private static final String TYPE_PREFIX = "urn:fencing:problem:";

	@ExceptionHandler
	ProblemDetail handle(UnknownAccountException ex) {
		return problem(HttpStatus.NOT_FOUND, "unknown-account", ex);
	}

	@ExceptionHandler
	ProblemDetail handle(RefusedMovementException ex) {
		ProblemDetail problem = problem(HttpStatus.UNPROCESSABLE_CONTENT, "refused-movement", ex);
		problem.setProperty("reason", code(ex.getReason()));
		return problem;
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> handle(FencingException ex) {
		Kind kind = Kind.of(ex);
		ProblemDetail problem = problem(kind.status, code(kind), ex);
		problem.setProperty("retryable", ex.isRetryable());
		HttpHeaders headers = new HttpHeaders();
		if (ex.isRetryable()) {
			headers.set(HttpHeaders.RETRY_AFTER, Long.toString(seconds(ex)));
		}
		return new ResponseEntity<>(problem, headers, kind.status);
	}

	private static ProblemDetail problem(HttpStatus status, String code, RuntimeException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, ex.getMessage());
		problem.setType(URI.create(TYPE_PREFIX + code));
		return problem;
	}

	private static String code(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	private static long seconds(FencingException ex) {
		// rounded up: an earlier retry would find the resource still taken
		Duration retryAfter = ex.getRetryAfter();
		return (retryAfter != null) ? Math.max(1, retryAfter.plusMillis(999).toSeconds()) : 1;
	}

	private enum Kind {

		BUSY(HttpStatus.CONFLICT),

		LOST(HttpStatus.CONFLICT),

		STALE(HttpStatus.CONFLICT),

		ADMISSION_TIMEOUT(HttpStatus.CONFLICT),

		IDENTITY_CONFLICT(HttpStatus.CONFLICT),

		COORDINATOR_UNAVAILABLE(HttpStatus.SERVICE_UNAVAILABLE),

		OUTCOME_UNKNOWN(HttpStatus.INTERNAL_SERVER_ERROR),

		MISUSE(HttpStatus.INTERNAL_SERVER_ERROR);

		private final HttpStatus status;

		Kind(HttpStatus status) {
			this.status = status;
		}

		static Kind of(FencingException ex) {
			if (ex instanceof LeaseNotAcquiredException) {
				return BUSY;
			}
			if (ex instanceof LeaseLostException) {
				return LOST;
			}
			if (ex instanceof StaleTokenException) {
				return STALE;
			}
			if (ex instanceof AdmissionTimeoutException) {
				return ADMISSION_TIMEOUT;
			}
			if (ex instanceof OperationConflictException) {
				return IDENTITY_CONFLICT;
			}
			if (ex instanceof CoordinatorUnavailableException) {
				return COORDINATOR_UNAVAILABLE;
			}
			return (ex instanceof OutcomeUnknownException) ? OUTCOME_UNKNOWN : MISUSE;
		}

	}

}
