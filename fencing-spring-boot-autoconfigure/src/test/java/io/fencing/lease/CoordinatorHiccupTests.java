package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingListeners;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a coordinator that is away for a moment, or a round trip away, leads to.
 */
@Timeout(60)
class CoordinatorHiccupTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration ROUND_TRIP = Duration.ofMillis(40);

	private final FencedResource resource = new FencedResourceFactory("hiccup", null).create("one");

	private final InMemoryLeaseCoordinator memory = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	@Test
	void whenGivenBackWhileTheMasterIsReplacedThenTheNextHolderNeedNotWaitForTheEndOfTheLease() {
		AtomicBoolean away = new AtomicBoolean();
		LeaseCoordinator failing = new DelegatingCoordinator(this.memory) {
			@Override
			public boolean release(Lease lease, Duration keepFor, Duration timeout) {
				if (away.get()) {
					throw new CoordinatorUnavailableException("test", lease.getResource(), "refused", null);
				}
				return super.release(lease, keepFor, timeout);
			}
		};
		try (DefaultLeaseManager manager = manager(failing)) {
			List<Lease> held = manager.acquire(terms(Duration.ZERO), List.of(this.resource));
			away.set(true);
			assertThat(manager.release(held)).isInstanceOf(CoordinatorUnavailableException.class);
			await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
			away.set(false);
			assertThat(manager.acquire(terms(Duration.ofSeconds(10)), List.of(this.resource))).hasSize(1);
		}
	}

	@Test
	void whenManyWaitForABusyResourceAndRedisAnswersEveryTimeThenAllAreToldThatItIsTaken() throws Exception {
		LeaseCoordinator distant = new DelegatingCoordinator(this.memory) {
			@Override
			public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
				boolean cut = timeout.compareTo(ROUND_TRIP) < 0;
				sleep(cut ? timeout : ROUND_TRIP);
				if (cut) {
					throw new CoordinatorUnavailableException("test", request.resource(), "no answer in time", null);
				}
				return super.tryAcquire(request, timeout);
			}
		};
		ExecutorService threads = Executors.newCachedThreadPool();
		try (DefaultLeaseManager holder = manager(this.memory); DefaultLeaseManager manager = manager(distant)) {
			holder.acquire(terms(Duration.ZERO), List.of(this.resource));
			List<Future<FencingException>> ends = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				ends.add(threads.submit(() -> {
					try {
						manager.acquire(terms(Duration.ofMillis(500)), List.of(this.resource));
						throw new AssertionError("granted");
					}
					catch (FencingException ex) {
						return ex;
					}
				}));
				sleep(Duration.ofMillis(10));
			}
			List<FencingException> told = new ArrayList<>();
			for (Future<FencingException> end : ends) {
				told.add(end.get());
			}
			assertThat(told).hasOnlyElementsOfType(LeaseNotAcquiredException.class);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static void sleep(Duration time) {
		long until = System.nanoTime() + time.toNanos();
		while (until - System.nanoTime() > 0 && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(until - System.nanoTime());
		}
	}

	private static DefaultLeaseManager manager(LeaseCoordinator coordinator) {
		return new DefaultLeaseManager(coordinator, new FencingListeners(List.of()), MonotonicClock.SYSTEM,
				COMMAND_TIMEOUT);
	}

	private static LeaseTerms terms(Duration wait) {
		return new LeaseTerms("test", Duration.ofSeconds(30), wait, Duration.ofMinutes(15), Duration.ZERO, true);
	}

}
