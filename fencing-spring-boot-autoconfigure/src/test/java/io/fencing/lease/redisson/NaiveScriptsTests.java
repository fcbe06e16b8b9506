package io.fencing.lease.redisson;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.lease.CoordinatorInvariants;
import io.fencing.lease.DelegatingCoordinator;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The assertions of {@link CoordinatorInvariants} go red when a rule is switched off by
 * another script.
 */
class NaiveScriptsTests {

	private static final LeaseScripts REAL = LeaseScripts.read();

	private static RedisFixture redis;

	private FencedResource resource;

	@BeforeAll
	static void startRedis() {
		redis = RedisFixture.started();
	}

	@AfterAll
	static void stopRedis() {
		redis.close();
	}

	@BeforeEach
	void nameResource(TestInfo test) {
		this.resource = new FencedResourceFactory("naive", null).create(test.getDisplayName());
	}

	@Test
	void rule5WhenTokenIsIssuedAfterTheLeaseThenPausedHolderGetsTheHigherOne() {
		LeaseCoordinator leases = redis.coordinator(acquiringWith("lease-only.lua"));
		LeaseCoordinator tokens = redis.coordinator(acquiringWith("token-only.lua"));
		assertViolated(() -> CoordinatorInvariants.tokensFollowGrants((pause) -> new DelegatingCoordinator(leases) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				LeaseAnswer answer = super.tryAcquire(request, timeout);
				pause.run();
				return (answer instanceof Granted) ? tokens.tryAcquire(request, timeout) : answer;
			}
		}, this.resource, NaiveScriptsTests::elapse));
	}

	@Test
	void rule6WhenTokenIsACounterThenItStartsAgainAfterDataLoss() {
		LeaseCoordinator naive = redis.coordinator(acquiringWith("acquire-counter.lua"));
		assertViolated(
				() -> CoordinatorInvariants.tokensRise(naive, this.resource, () -> redis.console().send("FLUSHALL")));
	}

	@Test
	void rule6WhenTokenIsTheClockAloneThenItIgnoresWhatStoragesHaveAccepted() {
		LeaseCoordinator naive = redis.coordinator(acquiringWith("acquire-clock-only.lua"));
		assertViolated(() -> {
			long accepted = CoordinatorInvariants.grant(redis.coordinator(), this.resource, "a") + 1_000_000_000;
			naive.lift(this.resource, accepted, CoordinatorInvariants.TIMEOUT);
			naive.abandon(CoordinatorInvariants.request(this.resource, "a"), CoordinatorInvariants.TIMEOUT);
			if (CoordinatorInvariants.grant(naive, this.resource, "b") <= accepted) {
				throw new AssertionError("not lifted");
			}
		});
	}

	@Test
	void rule7WhenAcquireDoesNotKnowItsOwnerThenRetryIsRefused() {
		LeaseCoordinator naive = redis.coordinator(acquiringWith("acquire-any.lua"));
		assertViolated(() -> CoordinatorInvariants.acquireIsIdempotent(naive, this.resource));
	}

	@Test
	void rule7WhenReleaseDoesNotCompareThenItTakesTheLeaseOfOthers() {
		LeaseCoordinator naive = redis.coordinator(new LeaseScripts(REAL.acquire(), REAL.renew(),
				LuaScript.read("naive/release-any.lua"), REAL.lift(), REAL.lineUp()));
		assertViolated(
				() -> CoordinatorInvariants.releaseSparesOthers(naive, this.resource, NaiveScriptsTests::elapse));
	}

	@Test
	void rule7WhenRenewalDoesNotCompareThenItBringsTheLeaseBack() {
		LeaseCoordinator naive = redis.coordinator(new LeaseScripts(REAL.acquire(),
				LuaScript.read("naive/renew-any.lua"), REAL.release(), REAL.lift(), REAL.lineUp()));
		assertViolated(() -> CoordinatorInvariants.renewalBringsNothingBack(naive, this.resource));
		assertViolated(
				() -> CoordinatorInvariants.renewalSparesOthers(naive, this.resource, NaiveScriptsTests::elapse));
	}

	private static LeaseScripts acquiringWith(String file) {
		return new LeaseScripts(LuaScript.read("naive/" + file), REAL.renew(), REAL.release(), REAL.lift(),
				REAL.lineUp());
	}

	private static void assertViolated(Runnable invariant) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(invariant::run);
	}

	private static void elapse(Duration time) {
		await().pollDelay(time).until(() -> true);
	}

}
