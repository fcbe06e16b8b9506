package io.fencing.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.fencing.ApplicationShutdownException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A shutdown waits for what is being sent, since clients close after it (case 64).
 */
@Timeout(60)
class LeaseShutdownTests {

	private static final Duration LONG = Duration.ofSeconds(30);

	private final FencedResource resource = new FencedResourceFactory("shutdown", null).create("one");

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	private final CountDownLatch reached = new CountDownLatch(1);

	private final CountDownLatch answered = new CountDownLatch(1);

	private final RecordingListener listener = new RecordingListener();

	private final DefaultLeaseManager manager = new DefaultLeaseManager(new SlowCoordinator(),
			new FencingListeners(List.of(this.listener)), MonotonicClock.SYSTEM, Duration.ofSeconds(2));

	private volatile boolean slowAcquire;

	private volatile boolean slowRelease;

	@AfterEach
	void close() {
		this.answered.countDown();
		this.manager.close();
	}

	@Test
	void case64WhenLeaseIsBeingGivenBackThenShutdownWaitsForIt() {
		List<Lease> leases = acquire();
		this.slowRelease = true;
		CompletableFuture<?> release = CompletableFuture.runAsync(() -> this.manager.release(leases));
		await().until(() -> this.reached.getCount() == 0);
		CompletableFuture<Boolean> shutdown = CompletableFuture.supplyAsync(() -> this.manager.shutdown(LONG));
		assertThat(shutdown).as("not before the answer").failsWithin(100, TimeUnit.MILLISECONDS);
		this.answered.countDown();
		assertThat(shutdown.join()).isTrue();
		release.join();
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
	}

	@Test
	void case64WhenLeaseIsBeingGrantedThenItIsUsedAndGivenBackWithinTheGrace() {
		this.slowAcquire = true;
		CompletableFuture<List<Lease>> acquire = CompletableFuture.supplyAsync(this::acquire);
		await().until(() -> this.reached.getCount() == 0);
		CompletableFuture<Boolean> shutdown = CompletableFuture.supplyAsync(() -> this.manager.shutdown(LONG));
		assertThat(shutdown).as("not before the answer").failsWithin(100, TimeUnit.MILLISECONDS);
		this.answered.countDown();
		List<Lease> leases = acquire.join();
		assertThat(leases).noneMatch(Lease::isLost);
		this.manager.release(leases);
		assertThat(shutdown.join()).isTrue();
	}

	@Test
	void case64WhenLeaseIsGrantedAfterTheGraceThenRefusedAndGivenBackAndNothingWasLost() {
		this.slowAcquire = true;
		CompletableFuture<List<Lease>> acquire = CompletableFuture.supplyAsync(this::acquire);
		await().until(() -> this.reached.getCount() == 0);
		this.manager.shutdown(Duration.ZERO);
		this.answered.countDown();
		assertThat(acquire).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(ApplicationShutdownException.class);
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
		assertThat(this.listener.lost).isEmpty();
	}

	private List<Lease> acquire() {
		return this.manager.acquire(new LeaseTerms("work", LONG, Duration.ZERO, LONG, Duration.ZERO, true),
				List.of(this.resource));
	}

	private void answerLate(boolean slow) {
		if (slow) {
			this.reached.countDown();
			try {
				assertThat(this.answered.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Answers late when it is told to.
	 */
	private final class SlowCoordinator extends DelegatingCoordinator {

		SlowCoordinator() {
			super(LeaseShutdownTests.this.coordinator);
		}

		@Override
		public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
			answerLate(LeaseShutdownTests.this.slowAcquire);
			return super.tryAcquire(request, timeout);
		}

		@Override
		public boolean release(Lease lease, Duration keepFor, Duration timeout) {
			answerLate(LeaseShutdownTests.this.slowRelease);
			return super.release(lease, keepFor, timeout);
		}

	}

}
