package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.StaleTokenException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many workers at once, with no lease at all between them: the fence alone keeps every
 * update.
 */
class FenceRaceTests {

	private static final int THREADS = 6;

	@ParameterizedTest
	@EnumSource
	void whenNothingButTheFenceKeepsWorkersApartThenNoUpdateIsLost(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(2 * THREADS)) {
			FencedDatabase database = FencedDatabase.create(pool,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofSeconds(5)));
			AtomicInteger acknowledged = new AtomicInteger();
			AtomicInteger refused = new AtomicInteger();
			long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
			inParallel(() -> {
				while (acknowledged.get() < 100 && System.nanoTime() < end) {
					try {
						database.operations.run(() -> {
							int seen = database.read();
							Thread.yield();
							database.transaction().executeWithoutResult((status) -> database.write(seen + 1));
						}, TestHeld.next("account:a"));
						acknowledged.incrementAndGet();
					}
					catch (StaleTokenException | AdmissionTimeoutException ex) {
						refused.incrementAndGet();
					}
				}
				return true;
			});
			assertThat(database.balance()).isEqualTo(acknowledged.get());
			assertThat(acknowledged).hasValueGreaterThanOrEqualTo(100);
			assertThat(refused).hasPositiveValue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenClaimsRaceThenTheHighestTokenStaysAndNoNumberIsAcceptedTwice(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(THREADS)) {
			FencedDatabase database = FencedDatabase.create(pool,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofSeconds(20)));
			List<TestHeld> claims = new ArrayList<>();
			for (int i = 0; i < 300; i++) {
				TestHeld one = TestHeld.next("account:a");
				claims.add(one);
				claims.add(TestHeld.of("account:a", one.getToken().value()));
			}
			List<TestHeld> shuffled = new ArrayList<>(claims);
			Collections.shuffle(shuffled, new Random(7));
			// mostly rising, so that many are accepted
			shuffled.sort((one, other) -> Long.compare(one.getToken().value() / 64, other.getToken().value() / 64));
			AtomicInteger next = new AtomicInteger();
			List<Long> accepted = Collections.synchronizedList(new ArrayList<>());
			inParallel(() -> {
				AtomicLong last = new AtomicLong();
				for (int i = next.getAndIncrement(); i < shuffled.size(); i = next.getAndIncrement()) {
					TestHeld held = shuffled.get(i);
					try {
						database.operations.enter(held);
						accepted.add(held.getToken().value());
					}
					catch (StaleTokenException ex) {
						// one of a higher number, or the other of this one
						assertThat(ex.getAcceptedToken()).isGreaterThanOrEqualTo(held.getToken().value())
							.isGreaterThanOrEqualTo(last.get());
						last.set(ex.getAcceptedToken());
					}
				}
				return true;
			});
			assertThat(accepted).doesNotHaveDuplicates().hasSizeGreaterThan(10);
			long highest = claims.get(claims.size() - 1).getToken().value();
			assertThat(accepted).contains(highest);
			assertThat(database.tokens()).singleElement().asString().startsWith(highest + ":");
		}
	}

	@ParameterizedTest
	@EnumSource
	void case25WhenManyClaimTheirFirstTokensAtOnceThenNobodyFails(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(THREADS)) {
			FencedDatabase database = FencedDatabase.create(pool,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofSeconds(20)));
			AtomicInteger entered = new AtomicInteger();
			inParallel(() -> {
				for (int i = 0; i < 50; i++) {
					try {
						// two resources, given in opposite orders, of which others claim
						// one too
						boolean turned = i % 2 == 0;
						database.operations.enter(TestHeld.next("new:" + (turned ? i : i + 1)),
								TestHeld.next("new:" + (turned ? i + 1 : i)));
						entered.incrementAndGet();
					}
					catch (StaleTokenException ex) {
						assertThat(ex.getAcceptedToken()).isNotNull();
					}
				}
				return true;
			});
			assertThat(entered).hasPositiveValue();
			assertThat(database.tokens()).hasSize(51);
		}
	}

	private static void inParallel(Callable<Boolean> work) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			for (Future<Boolean> future : threads.invokeAll(Collections.nCopies(THREADS, work))) {
				assertThat(future.get()).isTrue();
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	/**
	 * The databases.
	 */
	enum Server {

		/** PostgreSQL. */
		POSTGRESQL,

		/** MariaDB, at its default isolation. */
		MARIADB,

		/** MySQL, at its default isolation. */
		MYSQL,

		/** H2. */
		H2;

		HikariDataSource newPool(int size) {
			DataSource target = switch (this) {
				case POSTGRESQL -> TestServers.newPostgres();
				case MARIADB -> TestServers.newMariaDb();
				case MYSQL -> TestServers.newMySql();
				case H2 -> TestServers.newH2();
			};
			HikariDataSource pool = new HikariDataSource();
			pool.setDataSource(target);
			pool.setMaximumPoolSize(size);
			pool.setConnectionTimeout(2000);
			return pool;
		}

	}

}
