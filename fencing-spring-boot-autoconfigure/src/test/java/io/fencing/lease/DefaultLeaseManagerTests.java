package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.LossReason;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * Waiting, all or none, giving back, shutting down.
 */
@Timeout(60)
class DefaultLeaseManagerTests {

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(300);

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private final FencedResourceFactory resources = new FencedResourceFactory("manager", null);

	private final FencedResource resource = this.resources.create("one");

	private final FencedResource second = this.resources.create("two");

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	private final RecordingListener listener = new RecordingListener();

	private final DefaultLeaseManager manager = manager(this.coordinator);

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.manager.close();
	}

	@Test
	void whenSeveralAreFreeThenAllAreLeasedInOrderToOneOwner() {
		List<Lease> leases = this.manager.acquire(terms(LONG, Duration.ZERO), List.of(this.resource, this.second));
		assertThat(leases).extracting(Lease::getResource).containsExactly(this.resource, this.second);
		assertThat(leases).extracting((lease) -> lease.getToken().owner())
			.containsOnly(leases.get(0).getToken().owner());
		assertThat(this.listener.acquired).containsExactlyElementsOf(leases);
		this.manager.release(leases);
		assertThat(this.listener.released).containsExactly(leases.get(1), leases.get(0));
		assertThat(this.listener.failures).isEmpty();
		assertThat(this.coordinator.isTaken(this.resource) || this.coordinator.isTaken(this.second)).isFalse();
		assertThat(this.manager.getHeldCount()).isZero();
	}

	@Test
	void whenOneOfSeveralIsTakenThenNoneIsKept() {
		take(this.second, LONG);
		for (Duration wait : List.of(Duration.ZERO, Duration.ofMillis(50))) {
			assertThatExceptionOfType(LeaseNotAcquiredException.class)
				.isThrownBy(() -> this.manager.acquire(terms(LONG, wait), List.of(this.resource, this.second)))
				.satisfies((ex) -> assertThat(ex.concerns(this.second)).isTrue());
			assertThat(this.coordinator.isTaken(this.resource)).isFalse();
		}
		assertThat(this.listener.acquired).isEmpty();
		assertThat(this.manager.getHeldCount()).isZero();
	}

	@Test
	void whenWaitIsZeroThenExactlyOneAttempt() {
		take(this.resource, LONG);
		int before = this.coordinator.getRequests();
		LeaseNotAcquiredException failure = catchThrowableOfType(LeaseNotAcquiredException.class,
				() -> acquire(LONG, Duration.ZERO));
		assertThat(failure.getRetryAfter()).isPositive().isLessThanOrEqualTo(LONG);
		assertThat(this.coordinator.getRequests() - before).isEqualTo(1);
		this.coordinator.setUnavailable(true);
		assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> acquire(LONG, Duration.ZERO));
	}

	@Test
	void whenWaitEndsThenNotAcquiredWithRemainingTimeAndFewRequests() {
		take(this.resource, LONG);
		int before = this.coordinator.getRequests();
		LeaseNotAcquiredException failure = catchThrowableOfType(LeaseNotAcquiredException.class,
				() -> acquire(LONG, Duration.ofMillis(500)));
		assertThat(failure.getRetryAfter()).isPositive().isLessThan(LONG);
		assertThat(this.coordinator.getRequests() - before).as("no busy loop").isLessThanOrEqualTo(3);
		assertThat(this.coordinator.getSubscriptions()).isZero();
	}

	@Test
	void whenHolderReleasesThenWaiterGetsTheLeaseLongBeforeItWouldEnd() throws Exception {
		Lease held = acquire(LONG, Duration.ZERO);
		Future<Lease> waiter = this.threads.submit(() -> acquire(LONG, Duration.ofSeconds(20)));
		await().until(() -> this.coordinator.getSubscriptions() == 1);
		this.manager.release(List.of(held));
		assertThat(waiter.get().getToken()).isGreaterThan(held.getToken());
		assertThat(this.coordinator.getSubscriptions()).isZero();
	}

	@Test
	void whenHolderDiesThenWaiterGetsTheLeaseWhenItEnds() {
		take(this.resource, SHORT);
		int before = this.coordinator.getRequests();
		acquire(LONG, Duration.ofSeconds(20));
		assertThat(this.coordinator.getRequests() - before).as("no busy loop").isLessThanOrEqualTo(6);
	}

	@Test
	void whenReleasesAreNotHeardThenWaiterLooksNowAndThen() throws Exception {
		DefaultLeaseManager deaf = manager(new DelegatingCoordinator(this.coordinator) {
			@Override
			public ReleaseSubscription subscribe(LeaseRequest request) {
				return new DeafSubscription();
			}
		});
		Lease held = acquire(LONG, Duration.ZERO);
		Future<List<Lease>> waiter = this.threads
			.submit(() -> deaf.acquire(terms(LONG, Duration.ofSeconds(20)), List.of(this.resource)));
		await().until(() -> this.coordinator.getRequests() >= 2);
		this.manager.release(List.of(held));
		assertThat(waiter.get()).hasSize(1);
		deaf.close();
	}

	@Test
	void whenReleasedBetweenAttemptAndSubscriptionThenWakeUpIsNotLost() {
		AtomicReference<Lease> held = new AtomicReference<>(acquire(LONG, Duration.ZERO));
		DefaultLeaseManager unlucky = manager(new DelegatingCoordinator(this.coordinator) {
			@Override
			public ReleaseSubscription subscribe(LeaseRequest request) {
				DefaultLeaseManagerTests.this.manager.release(List.of(held.get()));
				return super.subscribe(request);
			}
		});
		// shorter than the time after which a waiter looks without being woken
		assertThat(unlucky.acquire(terms(LONG, Duration.ofMillis(900)), List.of(this.resource))).hasSize(1);
		unlucky.close();
	}

	@Test
	void whenManyThreadsWaitThenOnlyTheFirstAsksAndAllGetTheirTurn() throws Exception {
		Lease held = acquire(LONG, Duration.ZERO);
		int before = this.coordinator.getRequests();
		Set<Long> tokens = ConcurrentHashMap.newKeySet();
		AtomicInteger inside = new AtomicInteger();
		List<Future<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			waiters.add(this.threads.submit(() -> {
				Lease lease = acquire(LONG, Duration.ofSeconds(20));
				assertThat(inside.incrementAndGet()).isEqualTo(1);
				tokens.add(lease.getToken().value());
				inside.decrementAndGet();
				this.manager.release(List.of(lease));
			}));
		}
		await().until(() -> this.coordinator.getSubscriptions() == 1);
		await().during(Duration.ofMillis(300))
			.atMost(Duration.ofSeconds(5))
			.until(() -> this.coordinator.getSubscriptions() == 1);
		assertThat(this.coordinator.getRequests() - before).as("requests of 20 waiters").isLessThanOrEqualTo(4);
		this.manager.release(List.of(held));
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(tokens).hasSize(20);
		await().until(() -> this.coordinator.getSubscriptions() == 0);
	}

	@Test
	void whenCoordinatorIsUnavailableThenTypedFailureAfterFewAttempts() {
		this.coordinator.setUnavailable(true);
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> acquire(LONG, Duration.ofMillis(500)));
		assertThat(this.coordinator.getRequests()).as("no busy loop").isLessThanOrEqualTo(8);
	}

	@Test
	void whenCoordinatorComesBackWithinTheWaitThenAcquired() throws Exception {
		this.coordinator.setUnavailable(true);
		Future<Lease> waiter = this.threads.submit(() -> acquire(LONG, Duration.ofSeconds(20)));
		await().until(() -> this.coordinator.getRequests() >= 2);
		this.coordinator.setUnavailable(false);
		assertThat(waiter.get().isLost()).isFalse();
	}

	@Test
	void whenThreadAheadGetsNoAnswerThenThoseBehindAreToldUnavailable() throws Exception {
		this.coordinator.setUnavailable(true);
		Future<Lease> first = this.threads.submit(() -> acquire(LONG, Duration.ofSeconds(20)));
		await().until(() -> this.coordinator.getRequests() >= 1);
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> acquire(LONG, Duration.ofMillis(100)));
		this.coordinator.setUnavailable(false);
		first.get();
	}

	@Test
	void rule7Case14WhenAnswerIsLostThenRetryOfSameOwnerGetsTheSameToken() {
		AtomicInteger attempts = new AtomicInteger();
		Set<String> owners = ConcurrentHashMap.newKeySet();
		List<LeaseAnswer> executed = new ArrayList<>();
		DefaultLeaseManager unlucky = manager(new DelegatingCoordinator(this.coordinator) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				owners.add(request.owner());
				executed.add(super.tryAcquire(request, timeout));
				if (attempts.incrementAndGet() < 3) {
					throw new CoordinatorUnavailableException(null, null, "the answer is lost", null);
				}
				return executed.get(executed.size() - 1);
			}
		});
		List<Lease> leases = unlucky.acquire(terms(LONG, Duration.ofSeconds(20)), List.of(this.resource));
		assertThat(owners).hasSize(1);
		assertThat(executed).hasSize(3).containsOnly(new LeaseAnswer.Granted(leases.get(0).getToken().value()));
		unlucky.close();
	}

	@Test
	void case14WhenAnswerStaysLostThenLeaseThatNobodyKnowsIsGivenUpAndNeverRenewed() {
		for (Duration wait : List.of(Duration.ZERO, Duration.ofMillis(50))) {
			this.coordinator.loseAnswers(1);
			assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> acquire(LONG, wait));
			await().until(() -> !this.coordinator.isTaken(this.resource));
			assertThat(this.manager.getHeldCount()).isZero();
		}
	}

	@Test
	void rule8WhenGrantArrivesAfterItsOwnEndThenItIsNoGrant() {
		ManualClock clock = new ManualClock();
		InMemoryLeaseCoordinator manual = new InMemoryLeaseCoordinator(clock);
		DefaultLeaseManager slow = new DefaultLeaseManager(new DelegatingCoordinator(manual) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				LeaseAnswer answer = super.tryAcquire(request, timeout);
				clock.advance(SHORT.multipliedBy(2));
				return answer;
			}
		}, new FencingListeners(List.of()), clock, COMMAND_TIMEOUT);
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> slow.acquire(terms(SHORT, Duration.ZERO), List.of(this.resource)));
		slow.close();
	}

	@Test
	void case07WhenWaiterIsInterruptedThenFlagIsKeptAndWhatItHadIsGivenBack() throws Exception {
		take(this.second, LONG);
		AtomicReference<Boolean> flag = new AtomicReference<>();
		AtomicReference<FencingException> failure = new AtomicReference<>();
		Thread waiter = new Thread(() -> {
			failure.set(catchThrowableOfType(FencingException.class,
					() -> this.manager.acquire(terms(LONG, LONG), List.of(this.resource, this.second))));
			flag.set(Thread.currentThread().isInterrupted());
		});
		waiter.start();
		await().until(() -> this.coordinator.isTaken(this.resource) && this.coordinator.getSubscriptions() == 1);
		waiter.interrupt();
		waiter.join();
		assertThat(flag.get()).isTrue();
		assertThat(failure.get()).isInstanceOf(LeaseNotAcquiredException.class);
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
		assertThat(this.coordinator.getSubscriptions()).isZero();
	}

	@Test
	void case07WhenInterruptedBeforeTheCallThenToldAndFlagIsKept() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> acquire(LONG, LONG))
			.withMessageContaining("interrupted");
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void case07WhenInterruptedWhileUnavailableThenStopsAtOnce() throws Exception {
		this.coordinator.setUnavailable(true);
		AtomicReference<FencingException> failure = new AtomicReference<>();
		Thread waiter = new Thread(
				() -> failure.set(catchThrowableOfType(FencingException.class, () -> acquire(LONG, LONG))));
		waiter.start();
		await().until(() -> this.coordinator.getRequests() > 0);
		waiter.interrupt();
		waiter.join();
		assertThat(failure.get()).isInstanceOf(CoordinatorUnavailableException.class);
	}

	@Test
	void case11WhenLeaseWentToSomebodyElseThenReleaseSparesItAndLossIsToldOnce() {
		Lease lease = acquire(LONG, Duration.ZERO);
		this.coordinator.forgetLease(this.resource);
		take(this.resource, LONG);
		this.manager.release(List.of(lease));
		assertThat(this.coordinator.isTaken(this.resource)).isTrue();
		assertThat(lease.getLossReason()).isEqualTo(LossReason.REFUSED);
		assertThat(this.listener.lost).containsExactly(lease);
		assertThat(this.listener.released).containsExactly(lease);
	}

	@Test
	void rule11WhenReleaseFailsThenToldNotThrownAndOthersAreReleased() {
		List<Lease> leases = this.manager.acquire(terms(LONG, Duration.ZERO), List.of(this.resource, this.second));
		this.coordinator.loseAnswers(1);
		this.manager.release(leases);
		assertThat(this.listener.failures).hasSize(1);
		assertThat(this.listener.released).hasSize(2);
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
		assertThat(this.manager.getHeldCount()).isZero();
	}

	@Test
	void case09WhenReleasedByManyThreadsThenOnce() throws Exception {
		for (int i = 0; i < 200; i++) {
			Lease lease = acquire(LONG, Duration.ZERO);
			CountDownLatch start = new CountDownLatch(1);
			List<CompletableFuture<Void>> releases = new ArrayList<>();
			for (int j = 0; j < 2; j++) {
				releases.add(CompletableFuture.runAsync(() -> {
					awaitLatch(start);
					this.manager.release(List.of(lease));
				}, this.threads));
			}
			start.countDown();
			releases.forEach(CompletableFuture::join);
			assertThat(this.listener.released).hasSize(i + 1);
		}
		assertThat(this.listener.lost).isEmpty();
	}

	@Test
	void whenMinHoldIsSetThenResourceStaysTakenAfterRelease() {
		LeaseTerms terms = new LeaseTerms("test", LONG, Duration.ZERO, LONG, SHORT, true);
		List<Lease> leases = this.manager.acquire(terms, List.of(this.resource));
		this.manager.release(leases);
		assertThat(this.coordinator.getRemaining(this.resource)).isPositive().isLessThanOrEqualTo(SHORT);
		acquire(LONG, Duration.ofSeconds(20));
	}

	@Test
	void whenAskedWhetherOursThenRenewedByTheWay() {
		Lease lease = acquire(LONG, Duration.ZERO);
		assertThat(this.manager.isOurs(lease)).isTrue();
		this.coordinator.setUnavailable(true);
		assertThat(this.manager.isOurs(lease)).isFalse();
		assertThat(lease.isLost()).isFalse();
		this.coordinator.setUnavailable(false);
		this.coordinator.forgetLease(this.resource);
		assertThat(this.manager.isOurs(lease)).isFalse();
		assertThat(lease.getLossReason()).isEqualTo(LossReason.REFUSED);
		assertThat(this.listener.lost).containsExactly(lease);
	}

	@Test
	void rule6WhenLiftedThenNextTokenIsAbove() {
		long accepted = 1L << 52;
		this.manager.lift(this.resource, accepted);
		assertThat(acquire(LONG, Duration.ZERO).getToken().value()).isGreaterThan(accepted);
	}

	@Test
	void whenAnswerToReleaseIsMissingThenTriedOnceMoreInTheBackground() {
		List<Lease> leases = this.manager.acquire(terms(LONG, Duration.ZERO), List.of(this.resource));
		this.coordinator.refuseNext(1);
		assertThat(this.manager.release(leases)).isInstanceOf(CoordinatorUnavailableException.class);
		await().until(() -> !this.coordinator.isTaken(this.resource));
	}

	@Test
	void whenWaitIsUsedUpByAnotherResourceThenBusyAndNotUnavailable() {
		AtomicBoolean busy = new AtomicBoolean(true);
		try (DefaultLeaseManager other = manager(new DelegatingCoordinator(this.coordinator) {

			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				if (request.resource().equals(DefaultLeaseManagerTests.this.second)) {
					throw new CoordinatorUnavailableException(null, null, "no answer within what was left", null);
				}
				return busy.getAndSet(false) ? new LeaseAnswer.Busy(Duration.ofMillis(50))
						: super.tryAcquire(request, timeout);
			}

		})) {
			assertThatExceptionOfType(LeaseNotAcquiredException.class).isThrownBy(
					() -> other.acquire(terms(LONG, Duration.ofMillis(400)), List.of(this.resource, this.second)));
		}
	}

	@Test
	void whenSomethingElseIsGivenBackThenRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.manager.isOurs(new ForeignResource()));
	}

	@Test
	void case64WhenShutDownThenNewOnesAreRefusedAndTheRestIsLostAfterTheGrace() {
		Lease lease = acquire(LONG, Duration.ZERO);
		assertThat(this.manager.shutdown(Duration.ofMillis(50))).isFalse();
		assertThat(lease.getLossReason()).isEqualTo(LossReason.SHUTDOWN);
		assertThat(this.listener.lost).containsExactly(lease);
		assertThatExceptionOfType(ApplicationShutdownException.class).isThrownBy(() -> acquire(LONG, Duration.ZERO));
		this.manager.release(List.of(lease));
		assertThat(this.coordinator.isTaken(this.resource)).as("still given back").isFalse();
	}

	@Test
	void case64WhenAllIsGivenBackWithinTheGraceThenNothingIsLost() throws Exception {
		Lease lease = acquire(LONG, Duration.ZERO);
		Future<Lease> waiter = this.threads.submit(() -> acquire(LONG, LONG));
		await().until(() -> this.coordinator.getSubscriptions() == 1);
		Future<Boolean> shutdown = this.threads.submit(() -> this.manager.shutdown(LONG));
		assertThat(waiter).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(ApplicationShutdownException.class);
		assertThat(shutdown).isNotDone();
		this.manager.release(List.of(lease));
		assertThat(shutdown.get()).isTrue();
		assertThat(this.listener.lost).isEmpty();
	}

	// a context that is stopped may be started again
	@Test
	void whenStartedAfterAShutdownThenLeasesAreAcquiredAndKeptAgain() {
		this.manager.shutdown(Duration.ZERO);
		this.manager.start();
		Lease lease = acquire(LONG, Duration.ZERO);
		assertThat(lease.isLost()).isFalse();
		assertThat(this.manager.release(List.of(lease))).isNull();
		assertThat(this.manager.shutdown(Duration.ZERO)).isTrue();
		assertThatExceptionOfType(ApplicationShutdownException.class).isThrownBy(() -> acquire(LONG, Duration.ZERO));
	}

	@Test
	void whenListenerFailsThenLeaseIsKeptAllTheSame() {
		DefaultLeaseManager other = new DefaultLeaseManager(this.coordinator,
				new FencingListeners(List.of(new FencingListener() {
					@Override
					public void onAcquired(String operation, HeldResource held, Duration waited) {
						throw new IllegalStateException("listener");
					}
				})), MonotonicClock.SYSTEM, COMMAND_TIMEOUT);
		List<Lease> leases = other.acquire(terms(LONG, Duration.ZERO), List.of(this.resource));
		other.release(leases);
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
		other.close();
	}

	private Lease acquire(Duration leaseTime, Duration wait) {
		return this.manager.acquire(terms(leaseTime, wait), List.of(this.resource)).get(0);
	}

	private void take(FencedResource resource, Duration time) {
		this.coordinator.tryAcquire(new LeaseRequest("other", resource, "other", time), COMMAND_TIMEOUT);
	}

	private DefaultLeaseManager manager(LeaseCoordinator coordinator) {
		return new DefaultLeaseManager(coordinator, new FencingListeners(List.of(this.listener)), MonotonicClock.SYSTEM,
				COMMAND_TIMEOUT);
	}

	private static LeaseTerms terms(Duration leaseTime, Duration wait) {
		return new LeaseTerms("test", leaseTime, wait, Duration.ofMinutes(15), Duration.ZERO, true);
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class DeafSubscription implements LeaseCoordinator.ReleaseSubscription {

		@Override
		public boolean await(Duration timeout) throws InterruptedException {
			return new CountDownLatch(1).await(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}

		@Override
		public void close() {
		}

	}

	private static final class ForeignResource implements HeldResource {

		@Override
		public FencedResource getResource() {
			throw new UnsupportedOperationException();
		}

		@Override
		public FencingToken getToken() {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean isLost() {
			return false;
		}

		@Override
		public LossReason getLossReason() {
			return LossReason.NONE;
		}

		@Override
		public Duration getRemaining() {
			return Duration.ZERO;
		}

	}

}
