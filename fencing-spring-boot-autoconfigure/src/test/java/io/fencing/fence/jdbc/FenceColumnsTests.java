package io.fencing.fence.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.FenceColumns;
import io.fencing.LeaseLostException;
import io.fencing.Observation;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A pair of columns in the application's own table, as a fence of each row.
 */
class FenceColumnsTests {

	private static final FenceColumns FENCE = new FenceColumns("fence_token", "fence_owner");

	private static final String RESOURCE = "account:a";

	private static final Operations UNFENCED = new Operations(new AdmittingFence());

	@ParameterizedTest
	@EnumSource
	void whenRowHasSeenANewerTokenThenItIsNotWrittenAndTheOperationEndsWithThat(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(2)) {
			FencedDatabase database = create(pool);
			TestHeld older = TestHeld.next(RESOURCE);
			TestHeld newer = TestHeld.next(RESOURCE);
			TestHeld twin = TestHeld.of(RESOURCE, newer.getToken().value());
			UNFENCED.run(() -> assertThatCode(() -> write(database, 1)).doesNotThrowAnyException(), older);
			UNFENCED.run(() -> {
				write(database, 2);
				write(database, 3);
			}, newer);
			for (TestHeld stale : new TestHeld[] { older, twin }) {
				assertThatExceptionOfType(StaleTokenException.class)
					.isThrownBy(() -> UNFENCED.run(() -> assertThatExceptionOfType(StaleTokenException.class)
						.isThrownBy(() -> write(database, 4)), stale))
					.satisfies((ex) -> assertThat(ex.getStorage()).isEqualTo("columns"));
			}
			assertThat(database.balance()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenLeaseIsLostThenNothingIsSent(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(2)) {
			FencedDatabase database = create(pool);
			TestHeld held = TestHeld.next(RESOURCE);
			UNFENCED.run(() -> {
				held.lose();
				assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> write(database, 1));
			}, held);
			assertThat(database.balance()).isZero();
		}
	}

	@Test
	void whenThereIsNoTokenThenTold() {
		assertThatIllegalStateException().isThrownBy(() -> FENCE.parameters(RESOURCE))
			.withMessageContaining("@FencedOperation");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a b", "t.token", "x;--", "\"token\"" })
	void whenColumnIsNoPlainIdentifierThenRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> new FenceColumns(name, "fence_owner"));
		assertThatIllegalArgumentException().isThrownBy(() -> new FenceColumns("fence_token", name));
	}

	private static FencedDatabase create(HikariDataSource pool) {
		FencedDatabase database = FencedDatabase.create(pool);
		database.raw.execute("ALTER TABLE account ADD COLUMN fence_token BIGINT");
		database.raw.execute("ALTER TABLE account ADD COLUMN fence_owner VARCHAR(64)");
		return database;
	}

	private static void write(FencedDatabase database, int balance) {
		int rows = JdbcClient.create(database.raw)
			.sql("UPDATE account SET balance = :balance, " + FENCE.assignment() + " WHERE id = :id AND "
					+ FENCE.predicate())
			.param("balance", balance)
			.param("id", "a")
			.params(FENCE.parameters(RESOURCE))
			.update();
		FENCE.check(RESOURCE, rows);
	}

	/**
	 * Lets every token pass, so that the columns are the only fence.
	 */
	private static final class AdmittingFence implements Fence {

		@Override
		public String getStorage() {
			return "none";
		}

		@Override
		public @Nullable CallerTransaction inspect(String operation, boolean ownTransaction) {
			return null;
		}

		@Override
		public void claim(OperationContext context) {
		}

		@Override
		public Observation observe(OperationContext context) {
			return Observation.ADMITTED;
		}

	}

}
