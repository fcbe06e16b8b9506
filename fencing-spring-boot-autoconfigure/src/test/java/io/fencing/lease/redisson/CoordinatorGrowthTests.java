package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.adversarial.FaultsProperties;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseManager;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * However many resources there were, nothing of them remains in Redis once the retention
 * is over (rule 12, case 15): 20 000 of them, a million in the full form.
 */
@Tag("faults")
@Timeout(900)
class CoordinatorGrowthTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	private static final Duration RETENTION = Duration.ofSeconds(2);

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private static final LeaseKeys KEYS = new LeaseKeys("fencing");

	private static final int THREADS = 32;

	private final FencedResourceFactory resources = new FencedResourceFactory("growth", null);

	@Test
	void rule12WhenManyResourcesWereLeasedThenNoKeyAndNoSubscriptionRemains() {
		int count = (int) Math.min(1_000_000, FaultsProperties.time(Duration.ofSeconds(1)).toSeconds() * 20_000);
		try (RedisFixture redis = RedisFixture.started();
				DefaultLeaseManager leases = manager(redis);
				DefaultLeaseManager others = manager(redis)) {
			Run run = new Run(redis, leases, others, coordinator(redis));
			AtomicInteger next = new AtomicInteger();
			ExecutorService threads = Executors.newFixedThreadPool(THREADS);
			try {
				CompletableFuture.allOf(IntStream.range(0, THREADS).mapToObj((i) -> CompletableFuture.runAsync(() -> {
					for (int one = next.getAndIncrement(); one < count; one = next.getAndIncrement()) {
						run.use(this.resources.create("resource:" + one), one);
					}
				}, threads)).toArray(CompletableFuture[]::new)).join();
			}
			finally {
				threads.shutdownNow();
			}
			assertThat(next).hasValueGreaterThanOrEqualTo(count);
			await().atMost(LIMIT)
				.untilAsserted(() -> assertThat(redis.console().send("DBSIZE")).as("keys").isEqualTo("0"));
			await()
				.untilAsserted(() -> assertThat(redis.console().send("PUBSUB CHANNELS")).as("channels").isEqualTo("0"));
			assertThat(leases.getHeldCount()).isZero();
		}
	}

	private static DefaultLeaseManager manager(RedisFixture redis) {
		return new DefaultLeaseManager(coordinator(redis), new FencingListeners(List.of()), MonotonicClock.SYSTEM,
				Duration.ofSeconds(30));
	}

	private static RedissonLeaseCoordinator coordinator(RedisFixture redis) {
		LeaseScripts real = LeaseScripts.read();
		return new RedissonLeaseCoordinator(redis.clients(),
				new RedissonCoordinatorSettings(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX, Duration.ofDays(1),
						true),
				new LeaseScripts(shortRetention(real.acquire(), 3), real.renew(), real.release(),
						shortRetention(real.lift(), 2), real.lineUp()));
	}

	// settings demand a day at least
	private static LuaScript shortRetention(LuaScript script, int argument) {
		String retention = "'PX', ARGV[" + argument + "]";
		assertThat(script.text()).containsOnlyOnce(retention);
		return LuaScript.of(script.text().replace(retention, "'PX', " + RETENTION.toMillis()));
	}

	/**
	 * What becomes of the resources.
	 *
	 * @param redis the server
	 * @param leases leases them
	 * @param others those of another JVM
	 * @param coordinator asked directly
	 */
	private record Run(RedisFixture redis, LeaseManager leases, LeaseManager others, LeaseCoordinator coordinator) {

		void use(FencedResource resource, int number) {
			if (number % 100 == 1) {
				this.coordinator.lift(resource, 1, LIMIT);
			}
			if (number % 100 == 2 || number % 100 == 3) {
				forsake(resource, number % 100 == 2);
				return;
			}
			Lease lease = acquire(this.leases, resource, (number % 100 == 5) ? Duration.ofMillis(500) : Duration.ZERO);
			if (number % 500 == 4) {
				CompletableFuture<Lease> waiting = CompletableFuture
					.supplyAsync(() -> acquire(this.others, resource, Duration.ZERO));
				await().pollInterval(Duration.ofMillis(5))
					.until(() -> this.redis.console().send("PUBLISH " + KEYS.released(resource) + " x").equals("1"));
				this.leases.release(List.of(lease));
				this.others.release(List.of(waiting.join()));
			}
			else {
				this.leases.release(List.of(lease));
			}
		}

		// as if this JVM had died before or after the answer
		private void forsake(FencedResource resource, boolean before) {
			LeaseRequest request = new LeaseRequest("growth", resource, "me", LEASE);
			if (before) {
				try {
					this.coordinator.tryAcquire(request, Duration.ofNanos(1));
				}
				catch (CoordinatorUnavailableException ex) {
					// nearly always
				}
			}
			else {
				this.coordinator.tryAcquire(request, LIMIT);
			}
		}

		private static Lease acquire(LeaseManager leases, FencedResource resource, Duration minHold) {
			return leases
				.acquire(new LeaseTerms("growth", LEASE, LIMIT, Duration.ofMinutes(15), minHold, true),
						List.of(resource))
				.get(0);
		}

	}

}
