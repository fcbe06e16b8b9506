package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingListeners;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.DelegatingCoordinator;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.ForkedJvm;
import io.fencing.testing.ParentJvm;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.codec.StringCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * With {@code fencing.coordinator.fair=true} leases are granted in order of arrival,
 * across threads, managers and JVMs; those who are gone are passed over.
 */
@Timeout(120)
class OrderOfArrivalTests {

	private static final Duration WAIT = Duration.ofSeconds(40);

	private static final LeaseKeys KEYS = new LeaseKeys(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX);

	private static final LeaseTerms KEPT = new LeaseTerms("test", Duration.ofSeconds(30), WAIT, Duration.ofMinutes(15),
			Duration.ZERO, true);

	private static RedisFixture redis;

	private final List<DefaultLeaseManager> managers = new ArrayList<>();

	private final List<Integer> grants = Collections.synchronizedList(new ArrayList<>());

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private String name;

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
		this.name = test.getDisplayName();
		this.resource = resource(this.name);
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.managers.forEach(DefaultLeaseManager::close);
	}

	@Test
	void whenManyInstancesWaitThenGrantedInOrderOfArrival() throws Exception {
		long seed = System.nanoTime();
		System.out.println("Order of arrival with seed " + seed);
		Random random = new Random(seed);
		List<DefaultLeaseManager> instances = List.of(manager(), manager(), manager());
		DefaultLeaseManager first = instances.get(0);
		List<Lease> held = first.acquire(terms(Duration.ZERO), List.of(this.resource));
		List<Future<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			waiters.add(arrive(i, instances.get(random.nextInt(3))));
			awaitLine(i + 1);
		}
		first.release(held);
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(this.grants).hasSize(30).isSorted();
	}

	@Test
	void whenReleasesAreNotHeardThenTheFirstLooksNowAndThen() throws Exception {
		DefaultLeaseManager one = manager(new DeafCoordinator(redis.fairCoordinator()));
		DefaultLeaseManager two = manager(new DeafCoordinator(redis.fairCoordinator()));
		List<Lease> held = one.acquire(terms(Duration.ZERO), List.of(this.resource));
		List<Future<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			waiters.add(arrive(i, (i % 2 == 0) ? two : one));
			awaitLine(i + 1);
		}
		one.release(held);
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(this.grants).hasSize(4).isSorted();
	}

	@Test
	void whenWaitEndsThenPlaceIsGivenBackAndTheNextOneIsServed() throws Exception {
		DefaultLeaseManager one = manager();
		DefaultLeaseManager two = manager();
		List<Lease> held = one.acquire(terms(Duration.ZERO), List.of(this.resource));
		Future<?> impatient = this.threads.submit(() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
			.isThrownBy(() -> two.acquire(terms(Duration.ofMillis(600)), List.of(this.resource))));
		awaitLine(1);
		Future<?> patient = arrive(1, one);
		awaitLine(2);
		impatient.get();
		awaitLine(1);
		one.release(held);
		patient.get();
		assertThat(this.grants).containsExactly(1);
	}

	@Test
	void whenAllDataIsLostWhileTheyWaitThenAllAreServed() throws Exception {
		List<DefaultLeaseManager> instances = List.of(manager(), manager());
		List<Lease> held = instances.get(0).acquire(terms(Duration.ZERO), List.of(this.resource));
		List<Future<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			waiters.add(arrive(i, instances.get(i % 2)));
			awaitLine(i + 1);
		}
		redis.console().send("FLUSHALL");
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(this.grants).hasSize(8);
		instances.get(0).release(held);
	}

	@Test
	void whenSomeGiveUpAndTheLineIsLostNowAndThenThenThePatientAreAllServedOneAtATime() throws Exception {
		long seed = System.nanoTime();
		System.out.println("Waiters that give up with seed " + seed);
		Random random = new Random(seed);
		List<DefaultLeaseManager> instances = List.of(manager(), manager(), manager());
		AtomicInteger inside = new AtomicInteger();
		AtomicLong last = new AtomicLong();
		AtomicInteger gaveUp = new AtomicInteger();
		List<Future<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			DefaultLeaseManager mine = instances.get(random.nextInt(3));
			Duration wait = (i % 3 == 0) ? Duration.ofMillis(random.nextInt(60)) : WAIT;
			int work = random.nextInt(4);
			waiters.add(this.threads.submit(() -> {
				try {
					List<Lease> leases = mine.acquire(terms(wait), List.of(this.resource));
					assertThat(inside.incrementAndGet()).isEqualTo(1);
					long token = leases.get(0).getToken().value();
					assertThat(last.getAndSet(token)).isLessThan(token);
					LockSupport.parkNanos(Duration.ofMillis(work).toNanos());
					inside.decrementAndGet();
					mine.release(leases);
				}
				catch (LeaseNotAcquiredException | CoordinatorUnavailableException ex) {
					// some milliseconds may be too few for an answer
					assertThat(wait).as("patient").isLessThan(WAIT);
					gaveUp.incrementAndGet();
				}
			}));
			if (i % 20 == 0) {
				redis.console().send("DEL " + KEYS.line(this.resource) + " " + KEYS.heard(this.resource));
			}
		}
		for (Future<?> waiter : waiters) {
			waiter.get();
		}
		assertThat(gaveUp).hasPositiveValue();
		awaitLine(0);
	}

	@Test
	void whenThousandsGiveUpAtOnceThenAllPlacesAreGivenBack() throws Exception {
		CountDownLatch allGaveUp = new CountDownLatch(3_000);
		DefaultLeaseManager one = manager();
		DefaultLeaseManager two = manager(new DelegatingCoordinator(redis.fairCoordinator()) {
			@Override
			public void abandon(LeaseRequest request, Duration timeout) {
				try {
					allGaveUp.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
				super.abandon(request, timeout);
			}
		});
		List<Lease> held = one.acquire(KEPT, List.of(this.resource));
		// keeps its instance in the line
		Future<?> patient = arrive(0, two);
		for (long i = allGaveUp.getCount(); i > 0; i--) {
			this.threads.submit(() -> {
				assertThatExceptionOfType(FencingException.class)
					.isThrownBy(() -> two.acquire(terms(Duration.ofMillis(50)), List.of(this.resource)));
				allGaveUp.countDown();
			});
		}
		allGaveUp.await();
		awaitLine(1);
		one.release(held);
		patient.get();
	}

	@Test
	void whenInstanceIsClosedWhileManyWaitThenItLeavesNoPlaces() throws Exception {
		DefaultLeaseManager here = manager();
		DefaultLeaseManager closing = manager(new DelegatingCoordinator(redis.fairCoordinator()) {
			@Override
			public void abandon(LeaseRequest request, Duration timeout) {
				LockSupport.parkNanos(Duration.ofMillis(4).toNanos());
				super.abandon(request, timeout);
			}
		});
		List<Lease> held = here.acquire(KEPT, List.of(this.resource));
		List<Future<?>> refused = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			refused.add(this.threads.submit(() -> assertThatExceptionOfType(ApplicationShutdownException.class)
				.isThrownBy(() -> closing.acquire(KEPT, List.of(this.resource)))));
		}
		awaitLine(500);
		closing.shutdown(WAIT);
		closing.close();
		for (Future<?> one : refused) {
			one.get();
		}
		assertThat(redis.console().send("ZCARD " + KEYS.line(this.resource))).isEqualTo("0");
		here.release(held);
	}

	@ParameterizedTest
	@ValueSource(longs = { 1_000, 40_000 })
	void whenPlaceIsTakenLateThenItDoesNotStayWhetherItsOwnerIsServedOrNot(long waitMillis) throws Exception {
		CompletableFuture<Void> asked = new CompletableFuture<>();
		CompletableFuture<Void> taken = new CompletableFuture<>();
		DefaultLeaseManager late = manager(new DelegatingCoordinator(redis.fairCoordinator()) {
			@Override
			public CompletableFuture<?> lineUp(LeaseRequest request) {
				asked.complete(null);
				return CompletableFuture
					.supplyAsync(() -> super.lineUp(request),
							CompletableFuture.delayedExecutor(1_500, TimeUnit.MILLISECONDS))
					.thenCompose((place) -> place)
					.thenRun(() -> taken.complete(null));
			}
		});
		DefaultLeaseManager other = manager();
		List<Lease> held = other.acquire(terms(Duration.ZERO), List.of(this.resource));
		Future<?> waiter = this.threads.submit(() -> {
			try {
				late.release(late.acquire(terms(Duration.ofMillis(waitMillis)), List.of(this.resource)));
			}
			catch (LeaseNotAcquiredException ex) {
				assertThat(waitMillis).isEqualTo(1_000);
			}
		});
		asked.get(30, TimeUnit.SECONDS);
		if (waitMillis > 1_000) {
			other.release(held);
			waiter.get();
			other.acquire(terms(Duration.ZERO), List.of(this.resource));
		}
		// keeps the line alive
		arrive(0, other);
		waiter.get();
		taken.get(30, TimeUnit.SECONDS);
		awaitLine(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "killed", "frozen" })
	void whenJvmIsGoneThenItsPlacesArePassedOver(String how) throws Exception {
		DefaultLeaseManager here = manager();
		List<Lease> held = here.acquire(terms(Duration.ZERO), List.of(this.resource));
		try (ForkedJvm there = ForkedJvm.start("other", Waiters.class, Integer.toString(redis.getPort()), this.name)) {
			there.await("ready");
			List<Future<?>> waiters = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				if (i % 2 == 0) {
					there.send("arrive " + i);
				}
				else {
					waiters.add(arrive(i, here));
				}
				awaitLine(i + 1);
			}
			here.release(held);
			assertThat(there.await("granted")).as("whose turn it is").isEqualTo("0");
			there.send("release");
			waiters.get(0).get();
			assertThat(there.await("granted")).isEqualTo("2");
			if (how.equals("killed")) {
				there.kill();
			}
			else {
				there.freeze();
			}
			for (Future<?> waiter : waiters) {
				waiter.get();
			}
			assertThat(this.grants).containsExactly(1, 3, 5);
			if (how.equals("frozen")) {
				there.thaw();
				there.send("release");
				assertThat(there.await("granted")).as("takes part again").isEqualTo("4");
			}
		}
	}

	private Future<?> arrive(int number, DefaultLeaseManager manager) {
		return this.threads.submit(() -> {
			List<Lease> leases = manager.acquire(terms(WAIT), List.of(this.resource));
			this.grants.add(number);
			manager.release(leases);
		});
	}

	private void awaitLine(int length) {
		await().until(() -> redis.console().send("ZCARD " + KEYS.line(this.resource)),
				Integer.toString(length)::equals);
	}

	private DefaultLeaseManager manager() {
		return manager(redis.fairCoordinator());
	}

	private DefaultLeaseManager manager(LeaseCoordinator coordinator) {
		DefaultLeaseManager manager = manager(coordinator, Duration.ofSeconds(2));
		this.managers.add(manager);
		return manager;
	}

	private static DefaultLeaseManager manager(LeaseCoordinator coordinator, Duration commandTimeout) {
		return new DefaultLeaseManager(coordinator, new FencingListeners(List.of()), MonotonicClock.SYSTEM,
				commandTimeout);
	}

	private static FencedResource resource(String name) {
		return new FencedResourceFactory("order", null).create(name);
	}

	private static LeaseTerms terms(Duration wait) {
		return new LeaseTerms("test", Duration.ofSeconds(4), wait, Duration.ofMinutes(15), Duration.ZERO, true);
	}

	/**
	 * Hears of no release.
	 */
	private static final class DeafCoordinator extends DelegatingCoordinator {

		private DeafCoordinator(LeaseCoordinator delegate) {
			super(delegate);
		}

		@Override
		public ReleaseSubscription subscribe(LeaseRequest request) {
			ReleaseSubscription real = super.subscribe(request);
			return new ReleaseSubscription() {

				@Override
				public boolean await(Duration timeout) throws InterruptedException {
					return DeafCoordinator.this.await(timeout);
				}

				@Override
				public void close() {
					real.close();
				}

			};
		}

		private boolean await(Duration timeout) throws InterruptedException {
			synchronized (this) {
				wait(Math.max(1, timeout.toMillis()));
			}
			return false;
		}

	}

	/**
	 * A JVM whose threads wait for leases and keep them until told to give them back.
	 */
	public static final class Waiters {

		private Waiters() {
		}

		public static void main(String[] arguments) {
			ParentJvm parent = ParentJvm.connect();
			RedissonClientHolder clients = RedissonClientHolder
				.owning(() -> RedisFixture.newClient(Integer.parseInt(arguments[0]), new StringCodec()));
			clients.get().join();
			DefaultLeaseManager manager = manager(RedisFixture.fairCoordinator(clients), Duration.ofSeconds(2));
			FencedResource resource = resource(arguments[1]);
			Semaphore release = new Semaphore(0);
			parent.send("ready");
			while (true) {
				String[] message = parent.receive().split(" ");
				if (message[0].equals("release")) {
					release.release();
					continue;
				}
				Thread waiter = new Thread(() -> {
					List<Lease> leases = manager.acquire(terms(WAIT), List.of(resource));
					parent.send("granted " + message[1]);
					release.acquireUninterruptibly();
					manager.release(leases);
				});
				waiter.setDaemon(true);
				waiter.start();
			}
		}

	}

}
