package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.LossReason;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import io.fencing.lease.RecordingListener;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The lease manager on a real Redis: the field cases that are about time and threads.
 */
@Timeout(120)
class RedisLeaseManagerTests {

	private static final Duration LEASE = Duration.ofMillis(500);

	private static final Duration WAIT = Duration.ofSeconds(20);

	private static final LeaseKeys KEYS = new LeaseKeys(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX);

	private static RedisFixture redis;

	private final RecordingListener listener = new RecordingListener();

	private final DefaultLeaseManager manager = manager(Duration.ofSeconds(2));

	private final DefaultLeaseManager other = manager(Duration.ofSeconds(2));

	private final ExecutorService threads = Executors.newCachedThreadPool();

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
		this.resource = new FencedResourceFactory("manager", null).create(test.getDisplayName());
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.manager.close();
		this.other.close();
	}

	@Test
	void case06WhenTenThousandCyclesHaveRunThenNothingIsLeftAndNothingComesBack() throws Exception {
		int workers = 8;
		List<Future<?>> loops = new ArrayList<>();
		FencedResourceFactory resources = new FencedResourceFactory("cycles", null);
		for (int i = 0; i < workers; i++) {
			FencedResource own = resources.create("worker-" + i);
			loops.add(this.threads.submit(() -> {
				for (int cycle = 0; cycle < 10_000 / workers; cycle++) {
					this.manager.release(this.manager.acquire(terms(true), List.of(own)));
				}
			}));
		}
		for (Future<?> loop : loops) {
			loop.get();
		}
		assertThat(this.listener.released).hasSize(10_000);
		assertThat(this.manager.getHeldCount()).isZero();
		await().during(Duration.ofSeconds(1)).atMost(Duration.ofSeconds(10)).until(() -> {
			for (int i = 0; i < workers; i++) {
				if (leaseValue(resources.create("worker-" + i)) != null) {
					return false;
				}
			}
			return true;
		});
		assertThat(Thread.getAllStackTraces().keySet())
			.filteredOn((thread) -> thread.getName().startsWith("fencing-renewal")
					&& thread.getState() == Thread.State.RUNNABLE)
			.isEmpty();
	}

	@Test
	void case07WhenThreadIsInterruptedThenLeaseIsGivenBackAndFlagIsKept() throws Exception {
		Lease lease = acquire(true);
		Thread.currentThread().interrupt();
		this.manager.release(List.of(lease));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.listener.failures).isEmpty();
		assertThat(acquireOther(Duration.ZERO).getToken()).isGreaterThan(lease.getToken());
	}

	@Test
	void case07WhenBodyNeverEndsThenLostAtMaxHoldAndWaiterGetsIt() {
		LeaseTerms terms = new LeaseTerms("test", LEASE, Duration.ZERO, LEASE.multipliedBy(3), Duration.ZERO, true);
		Lease lease = this.manager.acquire(terms, List.of(this.resource)).get(0);
		Lease next = acquireOther(WAIT);
		assertThat(next.getToken()).isGreaterThan(lease.getToken());
		assertThat(lease.getLossReason()).isEqualTo(LossReason.MAX_HOLD);
		await().untilAsserted(() -> assertThat(this.listener.lost).contains(lease));
	}

	@Test
	void case08WhenRenewedThenTimeToLiveGoesUpAgainAndLeaseStaysOurs() {
		LeaseTerms terms = new LeaseTerms("test", Duration.ofSeconds(1), Duration.ZERO, Duration.ofMinutes(15),
				Duration.ZERO, true);
		Lease lease = this.manager.acquire(terms, List.of(this.resource)).get(0);
		AtomicLong last = new AtomicLong(remainingMillis());
		AtomicInteger raised = new AtomicInteger();
		await().pollInterval(Duration.ofMillis(20)).until(() -> {
			long now = remainingMillis();
			if (now > last.getAndSet(now)) {
				raised.incrementAndGet();
			}
			return raised.get() >= 5;
		});
		assertThat(lease.isLost()).isFalse();
		assertThat(leaseValue(this.resource)).isEqualTo(lease.getToken().value() + ":" + lease.getToken().owner());
	}

	@Test
	void case08WhenRenewIsOffThenNextHolderFindsTheOldOneLost() {
		Lease lease = acquire(false);
		Lease next = acquireOther(WAIT);
		assertThat(lease.isLost()).as("rule 8: lost before the next grant").isTrue();
		assertThat(next.getToken()).isGreaterThan(lease.getToken());
		await().untilAsserted(() -> assertThat(this.listener.lost).containsExactly(lease));
	}

	@Test
	void case10WhenRedisDoesNotAnswerForLongerThanTheLeaseThenLostOnce() {
		Lease lease = acquire(true);
		redis.console().send("CLIENT PAUSE " + LEASE.multipliedBy(3).toMillis() + " ALL");
		await().pollInterval(Duration.ofMillis(10)).until(lease::isLost);
		assertThat(lease.getLossReason()).isEqualTo(LossReason.DEADLINE);
		await().untilAsserted(() -> assertThat(this.listener.lost).containsExactly(lease));
		Lease next = acquireOther(WAIT);
		this.manager.release(List.of(lease));
		assertThat(leaseValue(this.resource)).as("the next holder's lease stays").endsWith(next.getToken().owner());
		assertThat(this.listener.lost).filteredOn((held) -> held == lease).hasSize(1);
	}

	@Test
	void case11WhenLeaseExpiredAndNobodyTookOverThenReleaseTellsTheLossAndDoesNotFail() {
		Lease lease = acquire(true);
		redis.console().send("DEL " + KEYS.lease(this.resource));
		this.manager.release(List.of(lease));
		assertThat(this.listener.lost).containsExactly(lease);
		assertThat(this.listener.failures).isEmpty();
	}

	@Test
	void case14WhenRedisAnswersAfterTheTimeoutThenNoLeaseStaysAndNothingIsRenewed() {
		DefaultLeaseManager impatient = manager(Duration.ofMillis(200));
		warmUp(impatient);
		redis.console().send("CLIENT PAUSE 1200 ALL");
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> impatient.acquire(terms(true), List.of(this.resource)));
		// answers when the pause is over
		redis.console().send("PING");
		await().during(LEASE).until(() -> leaseValue(this.resource) == null);
		assertThat(this.listener.acquired).isEmpty();
		impatient.close();
	}

	@Test
	void case14WhenRetriedThroughThePauseThenOneTokenOnly() {
		DefaultLeaseManager impatient = manager(Duration.ofMillis(200));
		warmUp(impatient);
		redis.console().send("CLIENT PAUSE 1200 ALL");
		Lease lease = impatient
			.acquire(new LeaseTerms("test", Duration.ofSeconds(30), WAIT, Duration.ofMinutes(15), Duration.ZERO, true),
					List.of(this.resource))
			.get(0);
		assertThat(leaseValue(this.resource)).isEqualTo(lease.getToken().value() + ":" + lease.getToken().owner());
		assertThat(redis.console().send("GET " + KEYS.token(this.resource)))
			.isEqualTo(Long.toString(lease.getToken().value()));
		impatient.release(List.of(lease));
		await().during(Duration.ofMillis(200)).until(() -> leaseValue(this.resource) == null);
		impatient.close();
	}

	@Test
	void case15WhenCounterOrEverythingIsLostThenTokensStillRise() {
		long last = 0;
		for (int i = 0; i < 57; i++) {
			Lease lease = acquire(true);
			assertThat(lease.getToken().value()).isGreaterThan(last);
			last = lease.getToken().value();
			this.manager.release(List.of(lease));
			redis.console().send((i % 2 == 0) ? "FLUSHALL" : "DEL " + KEYS.token(this.resource));
		}
	}

	@Test
	void case35WhenRedisIsDownThenFailsWithinTheWaitAndWorksOnceItIsBack() {
		try (RedisFixture late = RedisFixture.stopped()) {
			DefaultLeaseManager early = new DefaultLeaseManager(late.coordinator(),
					new FencingListeners(List.of(this.listener)), MonotonicClock.SYSTEM, Duration.ofSeconds(2));
			long startedAt = System.nanoTime();
			assertThatExceptionOfType(CoordinatorUnavailableException.class)
				.isThrownBy(() -> early.acquire(terms(true, Duration.ofMillis(500)), List.of(this.resource)));
			assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(Duration.ofSeconds(2));
			late.start();
			assertThat(early.acquire(terms(true, WAIT), List.of(this.resource))).hasSize(1);
			early.close();
		}
	}

	@Test
	void whenTwoJvmsContendThenOneHoldsAtATimeWithRisingTokens() throws Exception {
		AtomicInteger inside = new AtomicInteger();
		ConcurrentSkipListSet<Long> tokens = new ConcurrentSkipListSet<>();
		List<Future<?>> workers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			DefaultLeaseManager mine = (i % 2 == 0) ? this.manager : this.other;
			workers.add(this.threads.submit(() -> {
				for (int round = 0; round < 25; round++) {
					List<Lease> leases = mine.acquire(new LeaseTerms("test", Duration.ofSeconds(30), WAIT,
							Duration.ofMinutes(1), Duration.ZERO, true), List.of(this.resource));
					assertThat(inside.incrementAndGet()).isEqualTo(1);
					assertThat(tokens).allMatch((token) -> token < leases.get(0).getToken().value());
					tokens.add(leases.get(0).getToken().value());
					inside.decrementAndGet();
					mine.release(leases);
				}
			}));
		}
		for (Future<?> worker : workers) {
			worker.get();
		}
		assertThat(tokens).hasSize(200);
		await().until(() -> redis.console().send("PUBLISH " + KEYS.released(this.resource) + " x").equals("0"));
	}

	@Test
	void whenManyLeasesAreHeldThenAllAreRenewedInBatches() {
		List<Lease> leases = new ArrayList<>();
		FencedResourceFactory resources = new FencedResourceFactory("many", null);
		for (int i = 0; i < 600; i++) {
			leases.addAll(this.manager.acquire(new LeaseTerms("test", Duration.ofSeconds(3), Duration.ZERO,
					Duration.ofMinutes(1), Duration.ZERO, true), List.of(resources.create("resource-" + i))));
		}
		long until = System.nanoTime() + Duration.ofSeconds(4).toNanos();
		await().until(() -> System.nanoTime() - until > 0);
		assertThat(leases).noneMatch(Lease::isLost);
		this.manager.release(leases);
		assertThat(this.listener.failures).isEmpty();
	}

	private void warmUp(DefaultLeaseManager impatient) {
		await().ignoreExceptions().until(() -> {
			impatient.release(impatient.acquire(terms(true), List.of(this.resource)));
			return true;
		});
		this.listener.acquired.clear();
	}

	private Lease acquire(boolean renew) {
		return this.manager.acquire(terms(renew), List.of(this.resource)).get(0);
	}

	private Lease acquireOther(Duration wait) {
		return this.other.acquire(terms(true, wait), List.of(this.resource)).get(0);
	}

	private long remainingMillis() {
		return redis.console().remainingMillis(KEYS.lease(this.resource));
	}

	private static String leaseValue(FencedResource resource) {
		return redis.console().send("GET " + KEYS.lease(resource));
	}

	private DefaultLeaseManager manager(Duration commandTimeout) {
		return new DefaultLeaseManager(redis.coordinator(), new FencingListeners(List.of(this.listener)),
				MonotonicClock.SYSTEM, commandTimeout);
	}

	private static LeaseTerms terms(boolean renew) {
		return terms(renew, Duration.ZERO);
	}

	private static LeaseTerms terms(boolean renew, Duration wait) {
		return new LeaseTerms("test", LEASE, wait, Duration.ofMinutes(15), Duration.ZERO, renew);
	}

}
