package io.fencing.sample.web;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;

import io.fencing.AdmissionTimeoutException;
import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencingException;
import io.fencing.JournalUnavailableException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OperationConflictException;
import io.fencing.OutcomeUnknownException;
import io.fencing.RecordedFailureException;
import io.fencing.StaleTokenException;
import io.fencing.sample.idempotency.IdempotencyKey;
import io.fencing.sample.idempotency.InvalidIdempotencyKeyException;
import io.fencing.sample.ledger.RefusedMovementException;
import io.fencing.sample.ledger.UnknownAccountException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;

/**
 * Failures as problem details (RFC 9457). The types are stable, the texts are not; no
 * answer shows a key, or the raw name of a resource that the caller did not send. Who
 * sends an {@value IdempotencyKey#HEADER} is shown where it is described.
 */
@RestControllerAdvice
class ProblemAdvice {

	private static final String TYPE_PREFIX = "urn:fencing:problem:";

	private static final String DESCRIPTION = "</idempotency-key.html>; rel=\"describedby\"; type=\"text/html\"";

	@ExceptionHandler
	ProblemDetail handle(UnknownAccountException ex) {
		return problem(Kind.UNKNOWN_ACCOUNT, ex.getMessage());
	}

	@ExceptionHandler
	ProblemDetail handle(RefusedMovementException ex) {
		ProblemDetail problem = problem(Kind.REFUSED_MOVEMENT, ex.getReason().getText());
		problem.setProperty("reason", code(ex.getReason()));
		return problem;
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> handle(InvalidIdempotencyKeyException ex) {
		return ResponseEntity.badRequest()
			.header(HttpHeaders.LINK, DESCRIPTION)
			.body(problem(Kind.INVALID_IDEMPOTENCY_KEY, ex.getMessage()));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> handle(FencingException ex, WebRequest request) {
		Kind kind = Kind.of(ex);
		boolean hasKey = request.getHeader(IdempotencyKey.HEADER) != null;
		// whoever has the key finds out by asking again, nobody else may
		boolean retryable = ex.isRetryable() || (kind == Kind.OUTCOME_UNKNOWN && hasKey);
		ProblemDetail problem = problem(kind, ex.getMessage());
		problem.setProperty("retryable", retryable);
		HttpHeaders headers = new HttpHeaders();
		if (retryable) {
			headers.set(HttpHeaders.RETRY_AFTER, Long.toString(seconds(ex)));
		}
		if (hasKey) {
			headers.set(HttpHeaders.LINK, DESCRIPTION);
		}
		return new ResponseEntity<>(problem, headers, kind.status);
	}

	private static ProblemDetail problem(Kind kind, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(kind.status, detail);
		problem.setType(URI.create(TYPE_PREFIX + code(kind)));
		problem.setTitle(kind.title);
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

		UNKNOWN_ACCOUNT(HttpStatus.NOT_FOUND, "The account is unknown"),

		REFUSED_MOVEMENT(HttpStatus.UNPROCESSABLE_CONTENT, "The movement is refused"),

		INVALID_IDEMPOTENCY_KEY(HttpStatus.BAD_REQUEST, "Idempotency-Key is malformed"),

		IDENTITY_CONFLICT(HttpStatus.UNPROCESSABLE_CONTENT, "Idempotency-Key is already used"),

		BUSY(HttpStatus.CONFLICT, "Another request is outstanding"),

		LOST(HttpStatus.CONFLICT, "The lease was lost"),

		STALE(HttpStatus.CONFLICT, "A newer request has taken over"),

		ADMISSION_TIMEOUT(HttpStatus.CONFLICT, "The storage was not free in time"),

		COORDINATOR_UNAVAILABLE(HttpStatus.SERVICE_UNAVAILABLE, "The coordinator is unavailable"),

		SHUTTING_DOWN(HttpStatus.SERVICE_UNAVAILABLE, "This instance is shutting down"),

		JOURNAL_UNAVAILABLE(HttpStatus.SERVICE_UNAVAILABLE, "The journal is unavailable"),

		OUTCOME_UNKNOWN(HttpStatus.INTERNAL_SERVER_ERROR, "The outcome is unknown"),

		RECORDED_FAILURE(HttpStatus.INTERNAL_SERVER_ERROR, "The recorded answer is no longer known"),

		MISUSE(HttpStatus.INTERNAL_SERVER_ERROR, "The operation is misused");

		private final HttpStatus status;

		private final String title;

		Kind(HttpStatus status, String title) {
			this.status = status;
			this.title = title;
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
			if (ex instanceof ApplicationShutdownException) {
				return SHUTTING_DOWN;
			}
			if (ex instanceof JournalUnavailableException) {
				return JOURNAL_UNAVAILABLE;
			}
			if (ex instanceof RecordedFailureException) {
				return RECORDED_FAILURE;
			}
			return (ex instanceof OutcomeUnknownException) ? OUTCOME_UNKNOWN : MISUSE;
		}

	}

}
