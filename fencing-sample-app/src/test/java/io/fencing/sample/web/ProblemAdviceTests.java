package io.fencing.sample.web;

import java.time.Duration;

import io.fencing.AdmissionTimeoutException;
import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.InvalidFencedOperationException;
import io.fencing.JournalUnavailableException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.LossReason;
import io.fencing.OperationConflictException;
import io.fencing.OutcomeUnknownException;
import io.fencing.RecordedFailureException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.context.request.ServletWebRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each failure of fencing has a status and a stable type, and a time to retry where that
 * makes sense.
 */
class ProblemAdviceTests {

	private static final String KEY = "secret-key";

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	private final FencedResource resource = new FencedResourceFactory("default", "secret").create("account:secret");

	private final HeldResource held = new LostResource(this.resource);

	@Test
	void whenBusyThenConflictWithRetryAfterRoundedUp() {
		verify(new LeaseNotAcquiredException("op", this.resource, Duration.ZERO, Duration.ofMillis(2001)), 409, "busy",
				"3");
		verify(new LeaseNotAcquiredException("op", this.resource, Duration.ZERO, Duration.ZERO), 409, "busy", "1");
	}

	@Test
	void whenLostOrStaleThenConflictToRetryAtOnce() {
		verify(new LeaseLostException("op", this.held), 409, "lost", "1");
		verify(new StaleTokenException("op", this.held, "postgresql", RejectionReason.STALE, 43L), 409, "stale", "1");
		verify(new AdmissionTimeoutException("op", this.resource, "postgresql", Duration.ZERO, null), 409,
				"admission-timeout", "1");
	}

	@Test
	void whenCoordinatorIsDownThenUnavailable() {
		verify(new CoordinatorUnavailableException("op", this.resource, "it is down", null), 503,
				"coordinator-unavailable", "1");
		verify(new ApplicationShutdownException("op", this.resource), 503, "shutting-down", "1");
	}

	@Test
	void whenJournalIsDownThenUnavailable() {
		verify(new JournalUnavailableException("op", new IllegalStateException()), 503, "journal-unavailable", "1");
	}

	@Test
	void whenRetryMakesNoSenseThenNoRetryAfter() {
		verify(new OperationConflictException("op", KEY, "with another input"), 422, "identity-conflict", null);
		verify(new RecordedFailureException("op", "com.example.Gone"), 500, "recorded-failure", null);
		verify(new InvalidFencedOperationException("wrong"), 500, "misuse", null);
	}

	@Test
	void whenOutcomeIsUnknownThenOnlyWhoHasTheKeyMayAskAgain() {
		FencingException ex = new OutcomeUnknownException("op", KEY, new IllegalStateException());
		verify(ex, 500, "outcome-unknown", null);
		this.request.addHeader("Idempotency-Key", '"' + KEY + '"');
		verify(ex, 500, "outcome-unknown", "1");
	}

	@Test
	void whenKeyIsSentThenItsDescriptionIsLinked() {
		FencingException ex = new OperationConflictException("op", KEY, "with another input");
		assertThat(handle(ex).getHeaders().getFirst(HttpHeaders.LINK)).isNull();
		this.request.addHeader("Idempotency-Key", '"' + KEY + '"');
		assertThat(handle(ex).getHeaders().getFirst(HttpHeaders.LINK)).contains("rel=\"describedby\"");
	}

	private ResponseEntity<ProblemDetail> handle(FencingException ex) {
		return new ProblemAdvice().handle(ex, new ServletWebRequest(this.request));
	}

	private void verify(FencingException ex, int status, String type, String retryAfter) {
		ResponseEntity<ProblemDetail> answer = handle(ex);
		assertThat(answer.getStatusCode().value()).isEqualTo(status);
		assertThat(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo(retryAfter);
		ProblemDetail problem = answer.getBody();
		assertThat(problem).isNotNull();
		assertThat(problem.getStatus()).isEqualTo(status);
		assertThat(problem.getType()).hasToString("urn:fencing:problem:" + type);
		assertThat(problem.getDetail()).isNotBlank().doesNotContain("account:secret", KEY);
		assertThat(problem.getTitle()).isNotBlank();
		assertThat(problem.getProperties()).containsEntry("retryable", retryAfter != null);
	}

	private record LostResource(FencedResource resource) implements HeldResource {

		@Override
		public FencedResource getResource() {
			return this.resource;
		}

		@Override
		public FencingToken getToken() {
			return new FencingToken(42, "owner");
		}

		@Override
		public boolean isLost() {
			return true;
		}

		@Override
		public LossReason getLossReason() {
			return LossReason.DEADLINE;
		}

		@Override
		public Duration getRemaining() {
			return Duration.ZERO;
		}

	}

}
