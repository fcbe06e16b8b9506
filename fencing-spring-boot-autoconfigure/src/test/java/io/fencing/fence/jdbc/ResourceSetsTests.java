package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OnBusy;
import io.fencing.StaleTokenException;
import io.fencing.fence.Fence;
import io.fencing.fence.FencingMode;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.MonotonicClock;
import io.fencing.operation.FencedOperationExecutor;
import io.fencing.operation.OperationEntry;
import io.fencing.operation.OperationObserver;
import io.fencing.operation.OperationSettings;
import io.fencing.operation.OperationSettingsSource;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads, each on random sets of a few resources, in one entry and nested, in one
 * transaction and in several: nothing of ours deadlocks. Once with leases, which nested
 * entries ask for in any order, and once with fences alone, where everybody is in
 * everybody's way.
 */
class ResourceSetsTests {

	private static final int THREADS = 8;

	private static final int RESOURCES = 5;

	private static final int CALLS = 10;

	@ParameterizedTest
	@EnumSource
	@Timeout(60)
	void case25WhenThreadsWorkOnRandomSetsWithLeasesThenAllEndAndNoUpdateIsLost(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(3 * THREADS)) {
			FencedDatabase database = create(pool);
			InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
			// the fences remember tokens by the clock of the database
			coordinator.setWallClock(Duration.ofMillis(System.currentTimeMillis() - 1_700_000_000_000L));
			try (DefaultLeaseManager leases = new DefaultLeaseManager(coordinator, new FencingListeners(List.of()),
					MonotonicClock.SYSTEM, Duration.ofSeconds(2))) {
				FencedOperations operations = executor(database.fence, leases);
				run(database, (sets, work) -> operations
					.call(FencedOperationRequest.builder("sum").resources(names(sets)).build(), () -> {
						work.run();
						return true;
					}));
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	@Timeout(60)
	void case25WhenThreadsWorkOnRandomSetsWithFencesAloneThenAllEndAndNoUpdateIsLost(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(3 * THREADS)) {
			FencedDatabase database = create(pool);
			run(database, (sets, work) -> database.operations.run(work::run,
					names(sets).stream().map(TestHeld::next).toArray(TestHeld[]::new)));
		}
	}

	private static FencedDatabase create(HikariDataSource pool) {
		// joined transactions must be
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		FencedDatabase database = FencedDatabase.create(pool,
				FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofMillis(200)));
		for (int i = 0; i < RESOURCES; i++) {
			database.raw.update("INSERT INTO account VALUES (?, 0)", String.valueOf(i));
		}
		return database;
	}

	private static FencedOperations executor(Fence fence, DefaultLeaseManager leases) {
		FencingListeners listeners = new FencingListeners(List.of());
		OperationSettings settings = new OperationSettings(FencingMode.ENFORCE, Duration.ofSeconds(30),
				Duration.ofMillis(200), Duration.ofMillis(20), Duration.ofMinutes(15), Duration.ZERO, true,
				OnBusy.FAIL);
		return new FencedOperationExecutor(new OperationSettingsSource(settings, Map.of(), Duration.ofDays(7)),
				new FencedResourceFactory("default", null), new OperationEntry(leases, () -> List.of(fence), listeners),
				new OperationObserver(leases, () -> List.of(fence), listeners, MonotonicClock.SYSTEM), listeners,
				MonotonicClock.SYSTEM, Runnable::run, () -> null);
	}

	private static void run(FencedDatabase database, Entry entry) throws Exception {
		long seed = System.nanoTime();
		System.out.println("Random sets of resources with seed " + seed);
		AtomicIntegerArray acknowledged = new AtomicIntegerArray(RESOURCES);
		AtomicInteger succeeded = new AtomicInteger();
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> futures = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				Random random = new Random(seed + i);
				futures.add(threads.submit(() -> {
					for (int call = 0; call < CALLS; call++) {
						if (call(database, entry, random, acknowledged)) {
							succeeded.incrementAndGet();
						}
					}
					return true;
				}));
			}
			for (Future<?> future : futures) {
				// a deadlock of the database, or whatever is not one of ours, comes out
				// here
				future.get(50, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		for (int i = 0; i < RESOURCES; i++) {
			assertThat(balance(database, i)).as("account %s, seed %s", i, seed).isEqualTo(acknowledged.get(i));
		}
		assertThat(succeeded).as("seed %s", seed).hasPositiveValue();
	}

	private static boolean call(FencedDatabase database, Entry entry, Random random, AtomicIntegerArray acknowledged)
			throws Exception {
		List<Integer> all = new ArrayList<>();
		for (int i = 0; i < RESOURCES; i++) {
			all.add(i);
		}
		Collections.shuffle(all, random);
		int outer = 1 + random.nextInt(3);
		List<Integer> first = all.subList(0, outer);
		List<Integer> second = all.subList(outer, outer + random.nextInt(RESOURCES - outer));
		int shape = random.nextInt(3);
		List<Integer> done = new ArrayList<>();
		try {
			entry.call(first, () -> {
				if (shape == 0) {
					// the nested operation joins the transaction
					database.transaction().executeWithoutResult((status) -> {
						add(database, first);
						nested(database, entry, second);
						add(database, second);
					});
					done.addAll(first);
					done.addAll(second);
					return;
				}
				database.transaction().executeWithoutResult((status) -> add(database, first));
				done.addAll(first);
				if (!second.isEmpty()) {
					entry.call(second, () -> {
						if (shape == 1) {
							database.transaction().executeWithoutResult((status) -> add(database, second));
						}
						else {
							// a nested transaction holds on top of the one around it
							database.transaction()
								.executeWithoutResult((status) -> database.newTransaction()
									.executeWithoutResult((inner) -> add(database, second)));
						}
						done.addAll(second);
					});
				}
			});
			return true;
		}
		catch (StaleTokenException | AdmissionTimeoutException | LeaseNotAcquiredException ex) {
			return false;
		}
		finally {
			// what was committed before a later step was refused counts as well
			done.forEach(acknowledged::incrementAndGet);
		}
	}

	private static void nested(FencedDatabase database, Entry entry, List<Integer> accounts) {
		if (!accounts.isEmpty()) {
			JdbcFenceTests
				.unchecked(() -> entry.call(accounts, () -> database.jdbc.queryForObject("SELECT 1", Integer.class)));
		}
	}

	private static void add(FencedDatabase database, List<Integer> accounts) {
		for (int account : accounts) {
			int seen = balance(database, account);
			Thread.yield();
			database.jdbc.update("UPDATE account SET balance = ? WHERE id = ?", seen + 1, String.valueOf(account));
		}
	}

	private static int balance(FencedDatabase database, int account) {
		return database.raw.queryForObject("SELECT balance FROM account WHERE id = ?", Integer.class,
				String.valueOf(account));
	}

	private static List<String> names(List<Integer> accounts) {
		return accounts.stream().map((one) -> "set:" + one).toList();
	}

	/**
	 * Enters an operation on some resources.
	 */
	@FunctionalInterface
	private interface Entry {

		void call(List<Integer> accounts, Operations.Step work) throws Exception;

	}

}
