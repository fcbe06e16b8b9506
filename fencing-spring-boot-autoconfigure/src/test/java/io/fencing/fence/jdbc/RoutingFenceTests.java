package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Lazy connections, and read-only transactions that go to a replica.
 */
class RoutingFenceTests {

	@Test
	void case77WhenConnectionsAreLazyThenTheHoldIsOnTheOneThatCommits() throws Exception {
		FencedDatabase database = FencedDatabase.create(new LazyConnectionDataSourceProxy(TestServers.newPostgres()));
		database.operations.run(() -> database.transaction().executeWithoutResult((status) -> {
			database.write(1);
			assertThat(database.raw
				.queryForObject("SELECT COUNT(*) FROM pg_locks WHERE relation = 'fencing_fence'::regclass "
						+ "AND pid = pg_backend_pid()", Integer.class))
				.isPositive();
		}), TestHeld.next("account:a"));
		assertThat(database.balance()).isOne();
	}

	@Test
	void case88WhenReplicaLagsThenReadOnlyTransactionIsRefusedUntilItShowsTheClaim() throws Exception {
		for (DataSource[] pair : new DataSource[][] { { TestServers.newPostgres(), TestServers.newPostgres() },
				{ TestServers.newH2(), TestServers.newH2() } }) {
			FencedDatabase replica = FencedDatabase.create(pair[1]);
			LazyConnectionDataSourceProxy routing = new LazyConnectionDataSourceProxy(pair[0]);
			routing.setReadOnlyDataSource(pair[1]);
			FencedDatabase database = FencedDatabase.create(routing);
			TestHeld held = TestHeld.next("account:a");
			database.operations.run(() -> {
				database.writeInTransaction(1);
				copyFence(database.raw, replica.raw);
				assertThat(database.readOnlyTransaction().<Integer>execute((status) -> database.read())).isZero();
			}, held);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> database.operations.run(
					() -> database.readOnlyTransaction().executeWithoutResult((status) -> database.read()),
					TestHeld.next("account:a")))
				.satisfies((ex) -> {
					assertThat(ex.getReason()).isEqualTo(RejectionReason.LAGGING);
					assertThat(ex.isRetryable()).isTrue();
				});
		}
	}

	private static void copyFence(JdbcTemplate from, JdbcTemplate to) {
		to.update("DELETE FROM fencing_fence");
		from.query("SELECT resource_key, namespace, token, owner FROM fencing_fence",
				(org.springframework.jdbc.core.RowCallbackHandler) (row) -> to.update(
						"INSERT INTO fencing_fence VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)", row.getString(1),
						row.getString(2), row.getLong(3), row.getString(4)));
	}

}
