package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator.ReleaseSubscription;
import io.fencing.lease.LeaseCoordinator.Renewals;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every {@link LeaseCoordinator} does.
 */
public abstract class LeaseCoordinatorContractTests {

	protected static final Duration LEASE = CoordinatorInvariants.LEASE;

	protected static final Duration TIMEOUT = CoordinatorInvariants.TIMEOUT;

	private final FencedResourceFactory resources = new FencedResourceFactory("contract", null);

	private final FencedResource resource = newResource();

	protected abstract LeaseCoordinator coordinator();

	/**
	 * Let time pass for the coordinator.
	 */
	protected abstract void elapse(Duration time);

	protected abstract void loseAllData();

	protected abstract void loseToken(FencedResource resource);

	protected FencedResource resource() {
		return this.resource;
	}

	protected FencedResource newResource() {
		return this.resources.create(UUID.randomUUID().toString());
	}

	@Test
	void whenResourceIsFreeThenGrantedAndOthersAreToldHowLong() {
		CoordinatorInvariants.grant(coordinator(), this.resource, "a");
		LeaseAnswer answer = CoordinatorInvariants.answer(coordinator(), this.resource, "b");
		assertThat(answer).isInstanceOfSatisfying(Busy.class,
				(busy) -> assertThat(busy.remaining()).isPositive().isLessThanOrEqualTo(LEASE));
	}

	@Test
	void whenLeaseIsNotRenewedThenItEnds() {
		CoordinatorInvariants.grant(coordinator(), this.resource, "a");
		elapse(LEASE.multipliedBy(2));
		CoordinatorInvariants.grant(coordinator(), this.resource, "b");
	}

	@Test
	void whenLeaseIsRenewedThenItLastsForItsFullTime() {
		Lease lease = CoordinatorInvariants.acquire(coordinator(), this.resource, "a");
		for (int i = 0; i < 4; i++) {
			elapse(LEASE.dividedBy(2));
			assertThat(coordinator().renew(List.of(lease), TIMEOUT).renewed()).containsExactly(lease);
		}
		assertThat(CoordinatorInvariants.answer(coordinator(), this.resource, "b")).isInstanceOf(Busy.class);
	}

	@Test
	void whenManyAreRenewedThenEachGetsItsOwnAnswer() {
		List<Lease> ours = new ArrayList<>();
		List<Lease> gone = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			Lease lease = CoordinatorInvariants.acquire(coordinator(), newResource(), "a");
			((i % 3 == 0) ? gone : ours).add(lease);
		}
		gone.forEach((lease) -> coordinator().release(lease, Duration.ZERO, TIMEOUT));
		List<Lease> all = new ArrayList<>(ours);
		all.addAll(gone);
		Renewals answers = coordinator().renew(all, TIMEOUT);
		assertThat(answers.renewed()).containsExactlyInAnyOrderElementsOf(ours);
		assertThat(answers.refused()).containsExactlyInAnyOrderElementsOf(gone);
	}

	@Test
	void whenNothingIsRenewedThenNothingIsAnswered() {
		assertThat(coordinator().renew(List.of(), TIMEOUT).renewed()).isEmpty();
	}

	@Test
	void rule5WhenHolderPausesInAcquireThenLaterHolderHasHigherToken() {
		CoordinatorInvariants.tokensFollowGrants((pause) -> new DelegatingCoordinator(coordinator()) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				LeaseAnswer answer = super.tryAcquire(request, timeout);
				pause.run();
				return answer;
			}
		}, this.resource, this::elapse);
	}

	@Test
	void rule6WhenGrantedAgainThenTokenIsHigher() {
		CoordinatorInvariants.tokensRise(coordinator(), this.resource, () -> {
		});
	}

	@Test
	void rule6Case15WhenAllDataIsLostThenTokensStillRise() {
		CoordinatorInvariants.tokensRise(coordinator(), this.resource, this::loseAllData);
	}

	@Test
	void rule6Case15WhenTokenIsLostThenTokensStillRise() {
		CoordinatorInvariants.tokensRise(coordinator(), this.resource, () -> loseToken(this.resource));
	}

	@Test
	void rule6WhenLiftedThenNextTokenIsAbove() {
		long token = CoordinatorInvariants.grant(coordinator(), this.resource, "a");
		long accepted = token + Duration.ofDays(30).toMillis() * 1_000;
		coordinator().lift(this.resource, accepted, TIMEOUT);
		assertThat(CoordinatorInvariants.grant(coordinator(), this.resource, "a")).isEqualTo(token);
		elapse(LEASE.multipliedBy(2));
		assertThat(CoordinatorInvariants.grant(coordinator(), this.resource, "b")).isEqualTo(accepted + 1);
	}

	@Test
	void rule6WhenLiftedToLowerTokenThenTokensStillRise() {
		CoordinatorInvariants.tokensRise(coordinator(), this.resource,
				() -> coordinator().lift(this.resource, 1, TIMEOUT));
	}

	@Test
	void rule7WhenSameOwnerAsksAgainThenSameTokenAndFullTime() {
		CoordinatorInvariants.acquireIsIdempotent(coordinator(), this.resource);
		for (int i = 0; i < 4; i++) {
			elapse(LEASE.dividedBy(2));
			CoordinatorInvariants.acquireIsIdempotent(coordinator(), this.resource);
		}
	}

	@Test
	void rule7Case11WhenOldHolderReleasesThenNewHolderKeepsItsLease() {
		CoordinatorInvariants.releaseSparesOthers(coordinator(), this.resource, this::elapse);
	}

	@Test
	void rule7WhenRenewedAfterReleaseThenNothingComesBack() {
		CoordinatorInvariants.renewalBringsNothingBack(coordinator(), this.resource);
	}

	@Test
	void rule7WhenOldHolderRenewsThenRefused() {
		CoordinatorInvariants.renewalSparesOthers(coordinator(), this.resource, this::elapse);
	}

	@Test
	void rule7WhenReleasedTwiceThenSecondIsNotOurs() {
		Lease lease = CoordinatorInvariants.acquire(coordinator(), this.resource, "a");
		assertThat(coordinator().release(lease, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(coordinator().release(lease, Duration.ZERO, TIMEOUT)).isFalse();
	}

	@Test
	void whenKeptAfterReleaseThenTakenForThatTimeAndNobodys() {
		Lease lease = CoordinatorInvariants.acquire(coordinator(), this.resource, "a");
		assertThat(coordinator().release(lease, LEASE.multipliedBy(2), TIMEOUT)).isTrue();
		for (String owner : List.of("a", "b")) {
			assertThat(CoordinatorInvariants.answer(coordinator(), this.resource, owner)).isInstanceOf(Busy.class);
		}
		assertThat(coordinator().renew(List.of(lease), TIMEOUT).renewed()).isEmpty();
		assertThat(coordinator().release(lease, Duration.ZERO, TIMEOUT)).isFalse();
		elapse(LEASE.multipliedBy(3));
		assertThat(CoordinatorInvariants.grant(coordinator(), this.resource, "b"))
			.isGreaterThan(lease.getToken().value());
	}

	@Test
	void whenRequestIsAbandonedThenWhatItWasGrantedIsFree() {
		CoordinatorInvariants.grant(coordinator(), this.resource, "a");
		coordinator().abandon(CoordinatorInvariants.request(this.resource, "b"), TIMEOUT);
		assertThat(CoordinatorInvariants.answer(coordinator(), this.resource, "b")).isInstanceOf(Busy.class);
		coordinator().abandon(CoordinatorInvariants.request(this.resource, "a"), TIMEOUT);
		assertThat(CoordinatorInvariants.answer(coordinator(), this.resource, "b")).isInstanceOf(Granted.class);
	}

	@Test
	void whenReleasedThenSubscribersHearOfIt() throws Exception {
		Lease lease = CoordinatorInvariants.acquire(coordinator(), this.resource, "a");
		try (ReleaseSubscription subscription = coordinator()
			.subscribe(CoordinatorInvariants.request(this.resource, "waiter"))) {
			assertThat(subscription.await(TIMEOUT)).as("listens").isTrue();
			assertThat(subscription.await(Duration.ofMillis(50))).as("nothing yet").isFalse();
			CompletableFuture.runAsync(() -> coordinator().release(lease, Duration.ZERO, TIMEOUT),
					CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
			assertThat(subscription.await(TIMEOUT)).as("released").isTrue();
		}
	}

	@Test
	void whenOtherResourceIsReleasedThenSubscribersHearNothing() throws Exception {
		Lease other = CoordinatorInvariants.acquire(coordinator(), newResource(), "a");
		try (ReleaseSubscription subscription = coordinator()
			.subscribe(CoordinatorInvariants.request(this.resource, "waiter"))) {
			subscription.await(TIMEOUT);
			coordinator().release(other, Duration.ZERO, TIMEOUT);
			assertThat(subscription.await(Duration.ofMillis(100))).isFalse();
		}
	}

}
