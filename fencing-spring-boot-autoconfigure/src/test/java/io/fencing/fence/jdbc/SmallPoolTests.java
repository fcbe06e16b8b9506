package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Case 79: pools of one and two connections.
 */
class SmallPoolTests {

	private static final JdbcFenceSettings SETTINGS = FencedDatabase.settings(UnfencedWrites.ALLOW,
			JoinedTransactions.SAFE, Duration.ofMillis(500));

	@ParameterizedTest
	@EnumSource
	void case79WhenPoolHasOneConnectionThenOperationCompletes(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(1)) {
			FencedDatabase database = FencedDatabase.create(pool, SETTINGS);
			database.operations.run(() -> {
				database.write(database.read() + 1);
				database.writeInTransaction(database.read() + 1);
				database
					.transaction(TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.ISOLATION_DEFAULT)
					.executeWithoutResult((status) -> database.write(database.read() + 1));
			}, TestHeld.next("account:a"));
			assertThat(database.balance()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void case79WhenPoolHasOneConnectionThenJoinedClaimEndsInTimeAndTyped(Server server) {
		try (HikariDataSource pool = server.newPool(1)) {
			FencedDatabase database = FencedDatabase.create(pool, SETTINGS);
			database
				.transaction(TransactionDefinition.PROPAGATION_REQUIRED, TransactionDefinition.ISOLATION_READ_COMMITTED)
				.executeWithoutResult((status) -> assertThatExceptionOfType(CannotGetJdbcConnectionException.class)
					.isThrownBy(() -> database.operations.run(() -> database.write(1), TestHeld.next("account:a"))));
			assertThat(database.balance()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void case79WhenPoolHasTwoConnectionsAndAClaimCompetesThenAllEndInTime(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(2)) {
			FencedDatabase database = FencedDatabase.create(pool, SETTINGS);
			CountDownLatch holding = new CountDownLatch(1);
			Thread competitor = new Thread(() -> {
				try {
					holding.await();
					assertThatExceptionOfType(AdmissionTimeoutException.class)
						.isThrownBy(() -> database.operations.enter(TestHeld.next("account:a")));
					database.raw.update("UPDATE account SET balance = 1 WHERE id = 'b'");
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			});
			competitor.start();
			database.operations.run(() -> database.transaction().executeWithoutResult((outer) -> {
				holding.countDown();
				for (int i = 1; i <= 20; i++) {
					int value = i;
					database.newTransaction().executeWithoutResult((inner) -> database.write(value));
				}
				join(competitor);
			}), TestHeld.next("account:a"));
			assertThat(database.balance()).isEqualTo(20);
			assertThat(database.raw.queryForObject("SELECT balance FROM account WHERE id = 'b'", Integer.class))
				.isOne();
		}
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
