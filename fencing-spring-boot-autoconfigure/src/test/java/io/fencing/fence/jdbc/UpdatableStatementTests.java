package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.datasource.DataSourceUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A statement whose rows may be written to sends texts as any other does.
 */
class UpdatableStatementTests {

	@ParameterizedTest
	@EnumSource
	void whenItEndsTheTransactionThatHoldsThenItIsRefusedBeforeItIsSent(Server server) {
		try (HikariDataSource pool = server.newPool(4)) {
			FencedDatabase.create(pool);
			AtomicReference<FencedDatabase> made = new AtomicReference<>();
			DataSource bean = (DataSource) new FencedDataSourcePostProcessor(() -> made.get().fences)
				.postProcessAfterInitialization(pool, "dataSource");
			made.set(new FencedDatabase(bean,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofMillis(100))));
			FencedDatabase database = made.get();
			for (Sender sender : List.<Sender>of(
					(connection) -> connection
						.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)
						.execute("COMMIT"),
					(connection) -> connection
						.prepareStatement("COMMIT", ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)
						.execute())) {
				assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(
						() -> database.operations.run(() -> database.transaction().executeWithoutResult((status) -> {
							database.raw.update("UPDATE account SET balance = 5 WHERE id = 'a'");
							database.raw.execute((ConnectionCallback<Boolean>) (connection) -> {
								sender.send(DataSourceUtils.getConnection(bean));
								return true;
							});
						}), TestHeld.next("account:a")));
				assertThat(database.balance()).isZero();
			}
		}
	}

	/**
	 * Sends a text.
	 */
	@FunctionalInterface
	private interface Sender {

		void send(Connection connection) throws SQLException;

	}

}
