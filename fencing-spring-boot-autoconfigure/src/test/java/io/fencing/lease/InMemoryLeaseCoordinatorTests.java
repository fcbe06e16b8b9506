package io.fencing.lease;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.ManualClock;

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

}
