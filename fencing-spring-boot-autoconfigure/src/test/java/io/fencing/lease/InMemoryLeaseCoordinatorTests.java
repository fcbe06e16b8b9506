package io.fencing.lease;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.ManualClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The coordinator that other tests use keeps the contract too.
 */
class InMemoryLeaseCoordinatorTests extends LeaseCoordinatorContractTests {

	private final ManualClock clock = new ManualClock();

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(this.clock);

	@Override
	protected LeaseCoordinator coordinator() {
		return this.coordinator;
	}

	@Override
	protected void elapse(Duration time) {
		this.clock.advance(time);
	}

	@Override
	protected void loseAllData() {
		this.clock.advance(Duration.ofNanos(2_000));
		this.coordinator.forgetAll();
	}

	@Override
	protected void loseToken(FencedResource resource) {
		this.clock.advance(Duration.ofNanos(2_000));
		this.coordinator.forgetToken(resource);
	}

	@Test
	void rule6Case63WhenWallClockOfCoordinatorIsSetBackThenTokensStillRise() {
		FencedResource resource = newResource();
		CoordinatorInvariants.tokensRise(this.coordinator, resource,
				() -> this.coordinator.setWallClock(Duration.ofHours(-1)));
	}

	@Test
	void rule6Case95WhenDataIsLostTooThenLiftingHelps() {
		FencedResource resource = newResource();
		long accepted = CoordinatorInvariants.grant(this.coordinator, resource, "a");
		this.coordinator.forgetAll();
		this.coordinator.setWallClock(Duration.ofDays(-8));
		assertThat(CoordinatorInvariants.grant(this.coordinator, resource, "b")).isLessThan(accepted);
		this.coordinator.lift(resource, accepted, TIMEOUT);
		elapse(LEASE);
		assertThat(CoordinatorInvariants.grant(this.coordinator, resource, "c")).isGreaterThan(accepted);
	}

}
