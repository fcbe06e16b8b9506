package io.fencing.fence.jdbc;

import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fence rows go when nothing can need them any more, and not before.
 */
class FenceCleanupTests {

	private static final Duration OLD = Duration.ofDays(8);

	private static final Duration FRESH = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource
	void rule12WhenTokenAndRowAreOlderThanTheRetentionThenRowGoesAndItsTokenStaysRefused(Server server)
			throws Exception {
		try (HikariDataSource pool = server.newPool(2)) {
			FencedDatabase database = FencedDatabase.create(pool);
			TestHeld old = insert(database, "account:a", OLD, OLD);
			TestHeld freshToken = insert(database, "account:b", FRESH, OLD);
			TestHeld freshRow = insert(database, "account:c", OLD, FRESH);
			TestHeld withinMargin = insert(database, "account:d", Duration.ofDays(7).plusMinutes(59), OLD);
			assertThat(database.fence.removeExpired()).isOne();
			assertThat(database.tokens()).containsExactlyInAnyOrder(text(freshToken), text(freshRow),
					text(withinMargin));
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> database.operations.enter(old))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.EXPIRED))
				// case 95: the time that a coordinator is lifted to
				.satisfies((ex) -> assertThat(ex.getAcceptedToken()).isBetween(token(FRESH), token(FRESH.negated())));
			database.takeOver("account:a");
			assertThat(database.balance()).isOne();
			assertThat(database.fence.removeExpired()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenSomebodyHoldsAnOldRowThenItStaysAndNobodyWaits(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(3)) {
			FencedDatabase database = FencedDatabase.create(pool);
			// as if its operation had lasted for longer than the retention
			TestHeld held = insert(database, "account:a", OLD, OLD);
			insert(database, "account:b", OLD, OLD);
			database.operations.run(() -> database.transaction().executeWithoutResult((status) -> {
				database.write(1);
				assertThat(Operations.elsewhere(database.fence::removeExpired)).isOne();
			}), held);
			assertThat(database.balance()).isOne();
			assertThat(database.tokens()).containsExactly(text(held));
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenManyNodesCleanAtOnceThenEachRowIsRemovedOnceAndNoOperationFails(Server server) throws Exception {
		long seed = System.nanoTime();
		System.out.println("Fence clean-up on " + server + ", seed " + seed);
		Random random = new Random(seed);
		int rows = 3 * FenceCleanup.BATCH + 7;
		try (HikariDataSource pool = server.newPool(8)) {
			FencedDatabase database = FencedDatabase.create(pool,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofSeconds(30)));
			insert(database, rows);
			ExecutorService threads = Executors.newFixedThreadPool(8);
			try {
				List<TestHeld> claimed = Collections.synchronizedList(new ArrayList<>());
				List<CompletableFuture<Integer>> cleaners = IntStream.range(0, 4)
					.mapToObj((node) -> CompletableFuture.supplyAsync(database.fence::removeExpired, threads))
					.toList();
				List<CompletableFuture<?>> workers = new ArrayList<>();
				random.ints(100, 0, rows).distinct().forEach((row) -> workers.add(CompletableFuture.runAsync(() -> {
					TestHeld held = TestHeld.next(resource(row));
					unchecked(() -> database.operations
						.run(() -> database.transaction().executeWithoutResult((status) -> database.read()), held));
					claimed.add(held);
				}, threads)));
				workers.forEach(CompletableFuture::join);
				cleaners.forEach(CompletableFuture::join);
				database.fence.removeExpired();
				assertThat(database.tokens())
					.containsExactlyInAnyOrderElementsOf(claimed.stream().map(FenceCleanupTests::text).toList());
				int removed = cleaners.stream().mapToInt(CompletableFuture::join).sum();
				assertThat(removed).isBetween(rows - claimed.size(), rows);
			}
			finally {
				threads.shutdownNow();
			}
		}
	}

	private static void unchecked(Operations.Step step) {
		try {
			step.run();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String resource(int row) {
		return "account:" + row;
	}

	private static void insert(FencedDatabase database, int rows) {
		Stream<Object[]> old = IntStream.range(0, rows)
			.mapToObj((row) -> row(TestHeld.of(resource(row), token(OLD)), OLD));
		database.raw.batchUpdate("INSERT INTO fencing_fence VALUES (?, 'default', ?, ?, ?)", old.toList());
	}

	private static TestHeld insert(FencedDatabase database, String resource, Duration tokenAge, Duration rowAge) {
		TestHeld held = TestHeld.of(resource, token(tokenAge));
		database.raw.update("INSERT INTO fencing_fence VALUES (?, 'default', ?, ?, ?)", row(held, rowAge));
		return held;
	}

	private static Object[] row(TestHeld held, Duration age) {
		return new Object[] { held.getResource().getKey(), held.getToken().value(), held.getToken().owner(),
				timestamp(age) };
	}

	private static long token(Duration age) {
		return (System.currentTimeMillis() - age.toMillis()) * 1000;
	}

	private static Timestamp timestamp(Duration age) {
		return Timestamp.from(Instant.now().minus(age));
	}

	private static String text(TestHeld held) {
		return held.getToken().value() + ":" + held.getToken().owner();
	}

}
