package io.fencing.sample.web;

import java.time.Duration;

import io.fencing.AdmissionTimeoutException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.LossReason;
import io.fencing.OutcomeUnknownException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each failure of fencing has a status and a stable type, and a time to retry where that
 * makes sense.
 */
class ProblemAdviceTests {

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
	}

	@Test
	void whenRetryMakesNoSenseThenNoRetryAfter() {
		verify(new OutcomeUnknownException("op", null, new IllegalStateException()), 500, "outcome-unknown", null);
		verify(new InvalidFencedOperationException("wrong"), 500, "misuse", null);
	}

	private static void verify(FencingException ex, int status, String type, String retryAfter) {
		ResponseEntity<ProblemDetail> answer = new ProblemAdvice().handle(ex);
		assertThat(answer.getStatusCode().value()).isEqualTo(status);
		assertThat(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo(retryAfter);
		ProblemDetail problem = answer.getBody();
		assertThat(problem).isNotNull();
		assertThat(problem.getStatus()).isEqualTo(status);
		assertThat(problem.getType()).hasToString("urn:fencing:problem:" + type);
		assertThat(problem.getDetail()).isNotBlank().doesNotContain("account:secret");
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
