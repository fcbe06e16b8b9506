package io.fencing.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

import io.fencing.FencedResource;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules that a coordinator keeps, as assertions that hold for the real ones and fail
 * for those that break a rule.
 */
public final class CoordinatorInvariants {

	public static final Duration LEASE = Duration.ofSeconds(1);

	public static final Duration TIMEOUT = Duration.ofSeconds(5);

	private CoordinatorInvariants() {
	}

	/**
	 * Rule 5: who is granted later gets the higher token, although the one before pauses
	 * in the midst of its acquisition for longer than its lease.
	 */
	public static void tokensFollowGrants(Function<Runnable, LeaseCoordinator> withPauseInAcquire,
			FencedResource resource, Consumer<Duration> elapse) {
		AtomicLong later = new AtomicLong();
		AtomicLong pauses = new AtomicLong();
		LeaseCoordinator[] coordinator = new LeaseCoordinator[1];
		coordinator[0] = withPauseInAcquire.apply(() -> {
			if (pauses.getAndIncrement() == 0) {
				elapse.accept(LEASE.multipliedBy(2));
				later.set(grant(coordinator[0], resource, "later"));
			}
		});
		long paused = grant(coordinator[0], resource, "paused");
		assertThat(later.get()).isGreaterThan(paused);
	}

	/**
	 * Rule 6: tokens rise, whatever is lost in between.
	 */
	public static void tokensRise(LeaseCoordinator coordinator, FencedResource resource, Runnable loss) {
		long last = 0;
		for (int round = 0; round < 5; round++) {
			for (String owner : List.of("a" + round, "b" + round)) {
				Lease lease = acquire(coordinator, resource, owner);
				assertThat(lease.getToken().value()).isGreaterThan(last).isLessThan(1L << 53);
				last = lease.getToken().value();
				coordinator.release(lease, Duration.ZERO, TIMEOUT);
			}
			loss.run();
		}
	}

	/**
	 * Rule 7: asking again as the same owner is one grant, with one token.
	 */
	public static void acquireIsIdempotent(LeaseCoordinator coordinator, FencedResource resource) {
		long token = grant(coordinator, resource, "a");
		assertThat(answer(coordinator, resource, "a")).isEqualTo(new Granted(token));
		assertThat(answer(coordinator, resource, "b")).isInstanceOf(Busy.class);
	}

	/**
	 * Rule 7: giving back what is somebody else's by now leaves it alone.
	 */
	public static void releaseSparesOthers(LeaseCoordinator coordinator, FencedResource resource,
			Consumer<Duration> elapse) {
		Lease old = acquire(coordinator, resource, "old");
		elapse.accept(LEASE.multipliedBy(2));
		long token = grant(coordinator, resource, "new");
		assertThat(coordinator.release(old, Duration.ZERO, TIMEOUT)).isFalse();
		assertThat(answer(coordinator, resource, "new")).isEqualTo(new Granted(token));
	}

	/**
	 * Rule 7: a renewal that arrives after the release brings nothing back.
	 */
	public static void renewalBringsNothingBack(LeaseCoordinator coordinator, FencedResource resource) {
		Lease lease = acquire(coordinator, resource, "a");
		assertThat(coordinator.release(lease, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(coordinator.renew(List.of(lease), TIMEOUT).refused()).containsExactly(lease);
		assertThat(answer(coordinator, resource, "b")).isInstanceOf(Granted.class);
	}

	/**
	 * Rule 7: a renewal of what is somebody else's by now does not prolong it.
	 */
	public static void renewalSparesOthers(LeaseCoordinator coordinator, FencedResource resource,
			Consumer<Duration> elapse) {
		Lease old = acquire(coordinator, resource, "old");
		elapse.accept(LEASE.multipliedBy(2));
		grant(coordinator, resource, "new");
		assertThat(coordinator.renew(List.of(old), TIMEOUT).renewed()).isEmpty();
	}

	public static LeaseRequest request(FencedResource resource, String owner) {
		return new LeaseRequest("test", resource, owner, LEASE);
	}

	public static LeaseAnswer answer(LeaseCoordinator coordinator, FencedResource resource, String owner) {
		return coordinator.tryAcquire(request(resource, owner), TIMEOUT);
	}

	public static long grant(LeaseCoordinator coordinator, FencedResource resource, String owner) {
		LeaseAnswer answer = answer(coordinator, resource, owner);
		assertThat(answer).isInstanceOf(Granted.class);
		return ((Granted) answer).token();
	}

	public static Lease acquire(LeaseCoordinator coordinator, FencedResource resource, String owner) {
		long sentAt = System.nanoTime();
		return new Lease(request(resource, owner), grant(coordinator, resource, owner), sentAt, MonotonicClock.SYSTEM);
	}

}
