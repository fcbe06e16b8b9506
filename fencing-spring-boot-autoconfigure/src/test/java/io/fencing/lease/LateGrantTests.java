package io.fencing.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that was frozen runs what it had been sent in any order.
 */
@Timeout(60)
class LateGrantTests {

	private final InMemoryLeaseCoordinator server = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	private final FencedResource resource = new FencedResourceFactory("late", null).create("r");

	@Test
	void case14WhenRequestRunsAfterItWasGivenUpThenResourceIsFreeLongBeforeTheLeaseWouldEnd() {
		AtomicInteger givenUp = new AtomicInteger();
		LeaseCoordinator frozen = new DelegatingCoordinator(this.server) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				throw new CoordinatorUnavailableException(null, null, "the server is frozen", null);
			}

			@Override
			public void abandon(LeaseRequest request, Duration timeout) {
				super.abandon(request, timeout);
				if (givenUp.getAndIncrement() == 0) {
					assertThat(super.tryAcquire(request, timeout)).isInstanceOf(LeaseAnswer.Granted.class);
				}
			}
		};
		try (DefaultLeaseManager manager = new DefaultLeaseManager(frozen, new FencingListeners(List.of()),
				MonotonicClock.SYSTEM, DefaultLeaseManager.DEFAULT_COMMAND_TIMEOUT)) {
			LeaseTerms terms = new LeaseTerms("late", Duration.ofMinutes(5), Duration.ofMillis(10),
					Duration.ofMinutes(15), Duration.ZERO, true);
			assertThatExceptionOfType(CoordinatorUnavailableException.class)
				.isThrownBy(() -> manager.acquire(terms, List.of(this.resource)));
			await().until(() -> givenUp.get() > 0);
			await().until(() -> givenUp.get() > 1 && !this.server.isTaken(this.resource));
		}
	}

}
