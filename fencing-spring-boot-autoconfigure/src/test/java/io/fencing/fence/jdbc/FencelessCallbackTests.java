package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Templates on a data source that has no fence and is not excluded.
 */
class FencelessCallbackTests {

	private static final String WRITE = "UPDATE account SET balance = 7 WHERE id = 'a'";

	@Test
	void whenTheCallbackOfAReadWritesByHandThenItIsToldOrRefusedAndAWriteIsToldOnce() throws Exception {
		try (HikariDataSource pool = Server.H2.newPool(4); HikariDataSource other = Server.H2.newPool(4)) {
			FencedDatabase.create(pool);
			FencedDatabase.create(other);
			AtomicReference<FencedDatabase> made = new AtomicReference<>();
			DataSource bean = (DataSource) new FencedDataSourcePostProcessor(() -> made.get().fences)
				.postProcessAfterInitialization(other, "other");
			RowCallbackHandler writer = (row) -> new JdbcTemplate(bean).update(WRITE);
			made.set(new FencedDatabase(pool,
					FencedDatabase.settings(UnfencedWrites.REJECT, JoinedTransactions.SAFE, Duration.ofMillis(100))));
			FencedDatabase strict = made.get();
			JdbcTemplate refusing = strict.wrap(new JdbcTemplate(bean));
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(
					() -> strict.operations.run(() -> refusing.query("SELECT 1", writer), TestHeld.next("account:a")));
			assertThat(FencedDatabase.read(new JdbcTemplate(other))).isZero();
			made.set(new FencedDatabase(pool,
					FencedDatabase.settings(UnfencedWrites.ALLOW, JoinedTransactions.SAFE, Duration.ofMillis(100))));
			FencedDatabase telling = made.get();
			JdbcTemplate template = telling.wrap(new JdbcTemplate(bean));
			telling.operations.run(() -> template.query("SELECT 1", writer), TestHeld.next("account:a"));
			assertThat(telling.unfenced).hasSize(1);
			telling.operations.run(() -> template.update(WRITE), TestHeld.next("account:a"));
			assertThat(telling.unfenced).hasSize(2);
		}
	}

}
