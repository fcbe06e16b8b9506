package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two thousand threads that want one resource do not storm Redis: what they send is
 * bounded by the number of grants, whatever they wait for.
 */
@Timeout(120)
class ManyWaitersTests {

	private static final int INSTANCES = 10;

	private static final int WAITERS = 2_000;

	private static final Pattern CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

	private static final LeaseTerms TERMS = new LeaseTerms("test", Duration.ofSeconds(30), Duration.ofSeconds(90),
			Duration.ofMinutes(15), Duration.ZERO, true);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whenTwoThousandWaitThenAllAreServedWithFewRequests(boolean fair) throws Exception {
		FencedResource resource = new FencedResourceFactory("many", null).create("resource");
		ExecutorService threads = Executors.newCachedThreadPool();
		try (RedisFixture redis = RedisFixture.started()) {
			LeaseCoordinator coordinator = fair ? redis.fairCoordinator() : redis.coordinator();
			List<DefaultLeaseManager> instances = Stream
				.generate(() -> new DefaultLeaseManager(coordinator, new FencingListeners(List.of()),
						MonotonicClock.SYSTEM, Duration.ofSeconds(10)))
				.limit(INSTANCES)
				.toList();
			long startedAt = System.nanoTime();
			List<Lease> held = instances.get(0).acquire(TERMS, List.of(resource));
			List<Future<?>> waiters = new ArrayList<>();
			for (int i = 0; i < WAITERS; i++) {
				DefaultLeaseManager mine = instances.get(i % INSTANCES);
				waiters.add(threads.submit(() -> mine.release(mine.acquire(TERMS, List.of(resource)))));
			}
			instances.get(0).release(held);
			for (Future<?> waiter : waiters) {
				waiter.get(90, TimeUnit.SECONDS);
			}
			long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedAt) + 1;
			long calls = calls(redis);
			System.out.println(WAITERS + " waiters of " + INSTANCES + " instances, "
					+ (fair ? "in order of arrival" : "in any order") + ": " + calls + " calls in " + seconds + " s");
			// each instance looks once a second, and when it hears of its turn
			long looks = 2 * INSTANCES * seconds;
			long perGrant = fair ? 6 : INSTANCES + 3;
			assertThat(calls).isLessThan(perGrant * (WAITERS + 1) + looks);
			instances.forEach(DefaultLeaseManager::close);
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static long calls(RedisFixture redis) {
		Matcher matcher = CALLS.matcher(redis.console().sendForText("INFO commandstats"));
		long calls = 0;
		while (matcher.find()) {
			calls += Long.parseLong(matcher.group(1));
		}
		return calls;
	}

}
