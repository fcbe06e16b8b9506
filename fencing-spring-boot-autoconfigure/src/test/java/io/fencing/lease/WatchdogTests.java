package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Renewing and losing leases, with a clock that goes on when told to.
 */
@Timeout(60)
class WatchdogTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private final FencedResourceFactory resources = new FencedResourceFactory("watchdog", null);

	private final FencedResource resource = this.resources.create("one");

	private final ManualClock clock = new ManualClock();

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(this.clock);

	private final RecordingListener listener = new RecordingListener();

	private final List<Collection<Lease>> batches = new CopyOnWriteArrayList<>();

	private final List<DefaultLeaseManager> managers = new ArrayList<>();

	private final Watchdog watchdog = watchdog(new DelegatingCoordinator(this.coordinator) {
		@Override
		public Renewals renew(Collection<Lease> leases, Duration timeout) {
			WatchdogTests.this.batches.add(leases);
			return super.renew(leases, timeout);
		}
	}, this.listener);

	@AfterEach
	void close() {
		this.managers.forEach(DefaultLeaseManager::close);
	}

	@Test
	void whenAThirdHasPassedThenAllAreRenewedInOneBatch() {
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			leases.add(watch(this.resources.create("many-" + i), true));
		}
		look(Duration.ofSeconds(9));
		assertThat(this.batches).isEmpty();
		look(Duration.ofSeconds(1));
		await().until(() -> leases.stream()
			.allMatch((lease) -> lease.getRemaining().compareTo(LEASE.dividedBy(2)) > 0
					&& this.coordinator.getRemaining(lease.getResource()).equals(LEASE)));
		assertThat(this.batches).hasSize(1);
	}

	@Test
	void case08WhenRenewedThenLeaseOutlivesItsTime() {
		Lease lease = watch(this.resource, true);
		for (int i = 0; i < 10; i++) {
			lookAndAwaitRenewal(lease);
		}
		assertThat(lease.isLost()).isFalse();
		assertThat(this.coordinator.isTaken(this.resource)).isTrue();
	}

	@Test
	void case08WhenRenewIsOffThenLeaseIsLostAtItsDeadline() {
		Lease lease = watch(this.resource, false);
		look(LEASE.dividedBy(2));
		assertThat(this.listener.lost).isEmpty();
		look(LEASE.dividedBy(2));
		assertThat(this.batches).isEmpty();
		assertThat(this.listener.lost).containsExactly(lease);
		assertThat(lease.getLossReason()).isEqualTo(LossReason.DEADLINE);
	}

	@Test
	void case10WhenRedisIsCutThenLostBeforeItExpiresAndToldOnceAndStaysLost() {
		Lease lease = watch(this.resource, true);
		this.coordinator.setUnavailable(true);
		Duration step = Duration.ofMillis(500);
		while (this.coordinator.isTaken(this.resource)) {
			assertThat(this.coordinator.getRemaining(this.resource).compareTo(step) <= 0 && !lease.isLost())
				.as("not lost at its last moment")
				.isFalse();
			look(step);
		}
		this.coordinator.setUnavailable(false);
		look(LEASE);
		look(LEASE);
		assertThat(lease.getLossReason()).isEqualTo(LossReason.DEADLINE);
		assertThat(lease.getRemaining()).isZero();
		assertThat(this.listener.lost).containsExactly(lease);
	}

	@Test
	void case10WhenRedisIsBackInTimeThenNothingIsLost() {
		Lease lease = watch(this.resource, true);
		this.coordinator.setUnavailable(true);
		look(LEASE.dividedBy(3));
		await().until(() -> this.batches.size() == 1);
		this.coordinator.setUnavailable(false);
		await().untilAsserted(() -> {
			look(LEASE.dividedBy(10));
			assertThat(this.coordinator.getRemaining(this.resource)).isGreaterThan(LEASE.multipliedBy(2).dividedBy(3));
		});
		assertThat(lease.isLost()).isFalse();
	}

	@Test
	void case16WhenLeaseWasEvictedThenLostByRefusal() {
		Lease lease = watch(this.resource, true);
		this.coordinator.forgetLease(this.resource);
		look(LEASE.dividedBy(3));
		await().untilAsserted(() -> assertThat(this.listener.lost).containsExactly(lease));
		assertThat(lease.getLossReason()).isEqualTo(LossReason.REFUSED);
		assertThat(this.coordinator.isTaken(this.resource)).as("not brought back").isFalse();
	}

	@Test
	void case07WhenHeldForTooLongThenLostAndNotRenewedAnyMore() {
		Lease lease = watch(this.resource,
				new LeaseTerms("test", LEASE, Duration.ZERO, LEASE.multipliedBy(2), Duration.ZERO, true));
		for (int i = 0; i < 5; i++) {
			lookAndAwaitRenewal(lease);
		}
		look(LEASE.dividedBy(3));
		assertThat(lease.getLossReason()).isEqualTo(LossReason.MAX_HOLD);
		assertThat(this.listener.lost).containsExactly(lease);
		int renewals = this.batches.size();
		look(LEASE.dividedBy(3));
		look(LEASE);
		assertThat(this.batches).hasSize(renewals);
		assertThat(this.coordinator.isTaken(this.resource)).isFalse();
	}

	@Test
	void whenRenewalFailsInAnyWayThenWatchdogGoesOn() {
		List<Throwable> failures = new CopyOnWriteArrayList<>(List.of(new IllegalStateException("test"),
				new StackOverflowError("test"), new CoordinatorUnavailableException(null, null, "test", null)));
		Watchdog failing = watchdog(new DelegatingCoordinator(this.coordinator) {
			@Override
			public Renewals renew(Collection<Lease> leases, Duration timeout) {
				if (!failures.isEmpty()) {
					throwUnchecked(failures.remove(0));
				}
				return super.renew(leases, timeout);
			}
		}, this.listener);
		Lease lease = acquire(this.resource);
		failing.watch(lease, terms(true));
		this.clock.advance(LEASE.dividedBy(3));
		await().untilAsserted(() -> {
			failing.look();
			this.clock.advance(LEASE.dividedBy(50));
			assertThat(failures).isEmpty();
			assertThat(this.coordinator.getRemaining(this.resource)).isGreaterThan(LEASE.multipliedBy(9).dividedBy(10));
		});
		assertThat(lease.isLost()).isFalse();
	}

	@Test
	void whenListenerThrowsAnErrorThenOtherLeasesAreStillLookedAfter() {
		Watchdog failing = watchdog(this.coordinator, new FencingListener() {
			@Override
			public void onLost(String operation, HeldResource held) {
				WatchdogTests.this.listener.onLost(operation, held);
				throw new StackOverflowError("test");
			}
		});
		for (int i = 0; i < 3; i++) {
			failing.watch(acquire(this.resources.create("lost-" + i)), terms(false));
		}
		this.clock.advance(LEASE);
		failing.look();
		assertThat(this.listener.lost).hasSize(3);
	}

	@Test
	void case06WhenGivenBackWhileRenewalIsInFlightThenNeitherBroughtBackNorLost() {
		CountDownLatch sent = new CountDownLatch(1);
		CountDownLatch givenBack = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		Watchdog racing = watchdog(new DelegatingCoordinator(this.coordinator) {
			@Override
			public Renewals renew(Collection<Lease> leases, Duration timeout) {
				sent.countDown();
				awaitLatch(givenBack);
				Renewals answers = super.renew(leases, timeout);
				answered.countDown();
				return answers;
			}
		}, this.listener);
		Lease lease = acquire(this.resource);
		racing.watch(lease, terms(true));
		this.clock.advance(LEASE.dividedBy(3));
		racing.look();
		awaitLatch(sent);
		assertThat(racing.unwatch(lease)).isNotNull();
		assertThat(racing.unwatch(lease)).as("second time").isNull();
		this.coordinator.release(lease, Duration.ZERO, TIMEOUT);
		givenBack.countDown();
		awaitLatch(answered);
		await().during(Duration.ofMillis(100))
			.until(() -> !this.coordinator.isTaken(this.resource) && this.listener.lost.isEmpty() && !lease.isLost());
	}

	@Test
	void case06WhenAllAreGivenBackThenNothingIsLeftToDo() {
		for (int i = 0; i < 10_000; i++) {
			Lease lease = watch(this.resource, true);
			this.watchdog.unwatch(lease);
			this.coordinator.release(lease, Duration.ZERO, TIMEOUT);
		}
		assertThat(this.watchdog.size()).isZero();
		this.clock.advance(LEASE);
		assertThat(this.watchdog.look()).isGreaterThan(Duration.ofDays(365).toNanos());
		assertThat(this.batches).isEmpty();
	}

	@Test
	void whenOneBatchHangsThenOthersAreRenewed() {
		CountDownLatch hanging = new CountDownLatch(1);
		FencedResource slow = this.resources.create("slow");
		Watchdog other = watchdog(new DelegatingCoordinator(this.coordinator) {
			@Override
			public Renewals renew(Collection<Lease> leases, Duration timeout) {
				if (leases.iterator().next().getResource().equals(slow)) {
					awaitLatch(hanging);
				}
				return super.renew(leases, timeout);
			}
		}, this.listener);
		other.watch(acquire(slow), terms(true));
		this.clock.advance(LEASE.dividedBy(3));
		other.look();
		Lease lease = acquire(this.resource);
		other.watch(lease, terms(true));
		this.clock.advance(LEASE.dividedBy(3));
		other.look();
		await().until(() -> this.coordinator.getRemaining(this.resource).equals(LEASE));
		hanging.countDown();
	}

	@Test
	void whenAllThreadsHangThenLossesAreToldAllTheSame() {
		CountDownLatch hanging = new CountDownLatch(1);
		Watchdog other = watchdog(new DelegatingCoordinator(this.coordinator) {
			@Override
			public Renewals renew(Collection<Lease> leases, Duration timeout) {
				awaitLatch(hanging);
				return super.renew(leases, timeout);
			}
		}, this.listener);
		int leases = 5_000;
		for (int i = 0; i < leases; i++) {
			other.watch(acquire(this.resources.create("hanging-" + i)), terms(true));
		}
		this.clock.advance(LEASE.dividedBy(3));
		assertThat(CompletableFuture.runAsync(other::look)).succeedsWithin(Duration.ofSeconds(10));
		this.clock.advance(LEASE);
		other.look();
		// a thread of renewals that comes to its batch only now tells its losses itself
		await().untilAsserted(() -> assertThat(this.listener.lost).hasSize(leases));
		hanging.countDown();
	}

	@Test
	void whenLeasesAreDueOneAfterAnotherThenTheyAreRenewedTogether() {
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			leases.add(watch(this.resources.create("spread-" + i), true));
			this.clock.advance(LEASE.dividedBy(3_000));
		}
		Duration passed = Duration.ZERO;
		while (passed.compareTo(LEASE.dividedBy(3)) < 0) {
			Lease first = Collections.min(leases, Comparator.comparing(Lease::getRemaining));
			Duration pause = Duration.ofNanos(this.watchdog.look());
			await().until(() -> first.getRemaining().compareTo(LEASE.multipliedBy(9).dividedBy(10)) > 0);
			assertThat(this.batches).hasSizeLessThan(20);
			this.clock.advance(pause);
			passed = passed.plus(pause);
		}
		assertThat(leases).noneMatch(Lease::isLost);
	}

	@Test
	void rule8WhenCoordinatorGivesLeaseToAnotherThenItIsKnownToBeLost() {
		lostBeforeNextGrant((request) -> {
			long sentAt = this.clock.nanoTime();
			Granted granted = slowAnswer(request);
			return new Lease(request, granted.token(), sentAt, this.clock);
		});
		lostBeforeNextGrant((request) -> {
			DefaultLeaseManager manager = new DefaultLeaseManager(new DelegatingCoordinator(this.coordinator) {
				@Override
				public LeaseAnswer tryAcquire(LeaseRequest ignored, Duration timeout) {
					return slowAnswer(request);
				}
			}, new FencingListeners(List.of()), this.clock, TIMEOUT);
			this.managers.add(manager);
			return manager.acquire(terms(false), List.of(request.resource())).get(0);
		});
	}

	@Test
	void rule8WhenRenewalIsAnsweredLateThenDeadlineStillComesBeforeTheEnd() {
		Watchdog slow = watchdog(new DelegatingCoordinator(this.coordinator) {
			@Override
			public Renewals renew(Collection<Lease> leases, Duration timeout) {
				Renewals answers = super.renew(leases, timeout);
				WatchdogTests.this.clock.advance(LEASE.dividedBy(4));
				return answers;
			}
		}, this.listener);
		Lease lease = acquire(this.resource);
		slow.watch(lease, terms(true));
		this.clock.advance(LEASE.dividedBy(3));
		slow.look();
		await().until(() -> lease.getRemaining().compareTo(LEASE.multipliedBy(2).dividedBy(3)) > 0);
		assertThat(lease.getRemaining()).isLessThan(this.coordinator.getRemaining(this.resource));
	}

	@Test
	void rule8WhenTimeIsTakenAfterTheAnswerThenTwoHoldAtOnce() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> lostBeforeNextGrant((request) -> {
			Granted granted = slowAnswer(request);
			return new Lease(request, granted.token(), this.clock.nanoTime(), this.clock);
		}));
	}

	@Test
	void rule8Case63WhenDeadlineIsByAWallClockThenTwoHoldAtOnce() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> lostBeforeNextGrant((request) -> {
			long sentAt = this.clock.nanoTime();
			Granted granted = slowAnswer(request);
			long hour = Duration.ofHours(1).toNanos();
			// a wall clock that is set back right after the grant
			return new Lease(request, granted.token(), sentAt, () -> this.clock.nanoTime() - hour);
		}));
	}

	/**
	 * Rule 8: at every moment at which the coordinator would grant the resource to
	 * another owner, the holder knows that it has lost it.
	 */
	private void lostBeforeNextGrant(Function<LeaseRequest, Lease> acquire) {
		FencedResource contended = this.resources.create("contended-" + this.clock.nanoTime());
		Lease lease = acquire.apply(new LeaseRequest("test", contended, "holder", LEASE));
		LeaseRequest other = new LeaseRequest("test", contended, "other", LEASE);
		while (this.coordinator.tryAcquire(other, TIMEOUT) instanceof Busy) {
			this.clock.advance(Duration.ofMillis(100));
		}
		assertThat(lease.isLost()).isTrue();
	}

	private Granted slowAnswer(LeaseRequest request) {
		Granted granted = (Granted) this.coordinator.tryAcquire(request, TIMEOUT);
		this.clock.advance(LEASE.dividedBy(4));
		return granted;
	}

	private void lookAndAwaitRenewal(Lease lease) {
		look(LEASE.dividedBy(3));
		await().until(() -> this.coordinator.getRemaining(lease.getResource()).equals(LEASE)
				&& lease.getRemaining().compareTo(LEASE.multipliedBy(9).dividedBy(10)) > 0);
		// until the round has ended
		await().until(() -> this.watchdog.look() < WatchedLease.NEVER / 2
				&& this.watchdog.look() <= LEASE.dividedBy(3).toNanos());
	}

	private void look(Duration advance) {
		this.clock.advance(advance);
		this.watchdog.look();
	}

	private Lease watch(FencedResource resource, boolean renew) {
		return watch(resource, terms(renew));
	}

	private Lease watch(FencedResource resource, LeaseTerms terms) {
		Lease lease = acquire(resource);
		this.watchdog.watch(lease, terms);
		return lease;
	}

	private Lease acquire(FencedResource resource) {
		LeaseRequest request = new LeaseRequest("test", resource, "me", LEASE);
		long sentAt = this.clock.nanoTime();
		return new Lease(request, ((Granted) this.coordinator.tryAcquire(request, TIMEOUT)).token(), sentAt,
				this.clock);
	}

	private static LeaseTerms terms(boolean renew) {
		return new LeaseTerms("test", LEASE, Duration.ZERO, Duration.ofDays(1), Duration.ZERO, renew);
	}

	private Watchdog watchdog(LeaseCoordinator coordinator, FencingListener listener) {
		return new Watchdog(coordinator, new LossReporter(new FencingListeners(List.of(listener))), this.clock,
				TIMEOUT);
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUnchecked(Throwable failure) throws E {
		throw (E) failure;
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
