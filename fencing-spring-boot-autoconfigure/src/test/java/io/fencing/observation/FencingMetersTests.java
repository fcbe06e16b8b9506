package io.fencing.observation;

import java.time.Duration;
import java.util.List;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.Observation;
import io.fencing.OperationOutcome;
import io.fencing.RejectionReason;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every event shows in a meter, and no meter shows a resource or a token.
 */
class FencingMetersTests {

	private static final Duration TIME = Duration.ofMillis(20);

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final FencingMeters meters = new FencingMeters(this.registry);

	private final FencedResourceFactory resources = new FencedResourceFactory("default", "secret");

	@Test
	void whenOperationRunsThenItsLeaseIsMeasured() {
		this.meters.onAcquired("withdraw", held(1), TIME);
		assertThat(this.registry.get("fencing.lease.active").gauge().value()).isEqualTo(1);
		this.meters.onLost("withdraw", held(1));
		this.meters.onReleased("withdraw", held(1), TIME, null);
		this.meters.onFinished("withdraw", OperationOutcome.ADMISSION_TIMEOUT, TIME);
		assertThat(this.registry.get("fencing.lease.active").gauge().value()).isZero();
		assertThat(this.registry.get("fencing.lease.wait").tags("operation", "withdraw").timer().count()).isEqualTo(1);
		assertThat(this.registry.get("fencing.lease.hold").tags("operation", "withdraw").timer().count()).isEqualTo(1);
		assertThat(this.registry.get("fencing.lease.lost")
			.tags("operation", "withdraw", "reason", "max_hold")
			.counter()
			.count()).isEqualTo(1);
		assertThat(this.registry.get("fencing.operation")
			.tags("operation", "withdraw", "outcome", "admission_timeout")
			.timer()
			.count()).isEqualTo(1);
		assertThat(this.registry.find("fencing.lease.release.failures").counter()).isNull();
	}

	@Test
	void whenLeaseCannotBeGivenBackThenCounted() {
		this.meters.onAcquired("withdraw", held(1), TIME);
		this.meters.onReleased("withdraw", held(1), TIME, new IllegalStateException());
		assertThat(this.registry.get("fencing.lease.release.failures").tags("operation", "withdraw").counter().count())
			.isEqualTo(1);
		assertThat(this.registry.get("fencing.lease.active").gauge().value()).isZero();
	}

	@Test
	void whenStorageDecidesThenCountedPerStorage() {
		this.meters.onAdmitted("withdraw", "postgresql", TIME);
		this.meters.onRejected("withdraw", "postgresql", RejectionReason.REPLACED);
		this.meters.onRegression("withdraw", "postgresql", 1, 2);
		this.meters.onUnfenced("withdraw", null);
		this.meters.onUnfenced(null, "postgresql");
		assertThat(this.registry.get("fencing.fence.admission").tags("storage", "postgresql").timer().count())
			.isEqualTo(1);
		assertThat(this.registry.get("fencing.fence.rejections")
			.tags("storage", "postgresql", "reason", "replaced")
			.counter()
			.count()).isEqualTo(1);
		assertThat(this.registry.get("fencing.token.regressions").tags("storage", "postgresql").counter().count())
			.isEqualTo(1);
		assertThat(this.registry.get("fencing.unfenced")
			.tags("operation", "withdraw", "storage", "none")
			.counter()
			.count()).isEqualTo(1);
		assertThat(this.registry.get("fencing.unfenced")
			.tags("operation", "none", "storage", "postgresql")
			.counter()
			.count()).isEqualTo(1);
	}

	@Test
	void whenOperationIsOnlyObservedThenWhatWouldHaveBecomeOfItIsCounted() {
		this.meters.onObserved("withdraw", "coordinator", Observation.REFUSED);
		assertThat(this.registry.get("fencing.observed")
			.tags("operation", "withdraw", "storage", "coordinator", "observation", "refused")
			.counter()
			.count()).isEqualTo(1);
	}

	@Test
	void whenTenThousandResourcesAreUsedThenMeterCountIsUnchangedCase62() {
		fireAll(0);
		List<Meter.Id> before = ids();
		for (int i = 1; i <= 10_000; i++) {
			fireAll(i);
		}
		assertThat(ids()).containsExactlyInAnyOrderElementsOf(before);
		assertThat(this.registry.get("fencing.operation").timer().count()).isEqualTo(10_001);
	}

	private void fireAll(int resource) {
		HeldResource held = held(resource);
		this.meters.onAcquired("withdraw", held, TIME);
		this.meters.onAdmitted("withdraw", "postgresql", TIME);
		this.meters.onRejected("withdraw", "postgresql", RejectionReason.LOST);
		this.meters.onRegression("withdraw", "postgresql", held.getToken().value(), held.getToken().value() + 1);
		this.meters.onUnfenced("withdraw", "postgresql");
		this.meters.onObserved("withdraw", "postgresql", Observation.ADMITTED);
		this.meters.onLost("withdraw", held);
		this.meters.onReleased("withdraw", held, TIME, new IllegalStateException("resource " + resource));
		this.meters.onFinished("withdraw", OperationOutcome.SUCCESS, TIME);
	}

	private List<Meter.Id> ids() {
		return this.registry.getMeters().stream().map(Meter::getId).toList();
	}

	private HeldResource held(int number) {
		FencedResource resource = this.resources.create("account:" + number);
		return new Held(resource, new FencingToken(number, "owner" + number));
	}

	private record Held(FencedResource resource, FencingToken token) implements HeldResource {

		@Override
		public FencedResource getResource() {
			return this.resource;
		}

		@Override
		public FencingToken getToken() {
			return this.token;
		}

		@Override
		public boolean isLost() {
			return true;
		}

		@Override
		public LossReason getLossReason() {
			return LossReason.MAX_HOLD;
		}

		@Override
		public Duration getRemaining() {
			return Duration.ZERO;
		}

	}

}
