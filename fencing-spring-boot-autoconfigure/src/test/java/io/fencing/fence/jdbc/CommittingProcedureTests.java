package io.fencing.fence.jdbc;

import java.sql.CallableStatement;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import io.fencing.StaleTokenException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Procedures and texts that commit from within, so that the hold is gone and the
 * transaction manager does not know.
 */
class CommittingProcedureTests {

	private static final String RESOURCE = "account:a";

	@ParameterizedTest
	@EnumSource
	void whenItHasCommittedThenTheNextOneIsRefusedOnceSomebodyHasTakenOver(Commit commit) throws Exception {
		DataSource dataSource = InnoDbJdbcFenceTests.readCommitted(TestServers.newMariaDbUrl());
		for (boolean byHand : new boolean[] { false, true }) {
			FencedDatabase database = ConnectionsByHandTests.database(dataSource, UnfencedWrites.ALLOW);
			database.raw.execute("CREATE OR REPLACE PROCEDURE put(new_balance INT) BEGIN "
					+ "UPDATE account SET balance = new_balance WHERE id = 'a'; COMMIT; END");
			assertRefused(database, commit, byHand ? new JdbcTemplate(database.dataSource) : database.jdbc);
		}
	}

	@Test
	void whenItHasCommittedOnH2ThenTheNextOneIsRefusedToo() throws Exception {
		FencedDatabase database = ConnectionsByHandTests.database(TestServers.newH2(), UnfencedWrites.ALLOW);
		assertRefused(database, Commit.IMMEDIATE, database.jdbc);
	}

	private static void assertRefused(FencedDatabase database, Commit commit, JdbcTemplate template) {
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> database.operations.run(() -> database.transaction().executeWithoutResult((status) -> {
				int seen = FencedDatabase.read(template);
				commit.write.accept(template, seen + 1);
				assertThat(database.takeOver(RESOURCE)).isTrue();
				commit.write.accept(template, seen + 1);
			}), TestHeld.next(RESOURCE)));
		assertThat(database.balance()).isEqualTo(2);
	}

	/**
	 * Ways to write and commit.
	 */
	enum Commit {

		/** A procedure. */
		CALL((template, balance) -> template.execute("CALL put(" + balance + ")")),

		/** As drivers know procedures. */
		ESCAPED_CALL((template, balance) -> template.execute("{call put(?)}", (CallableStatement call) -> {
			call.setInt(1, balance);
			return call.execute();
		})),

		/** A text that is a parameter. */
		IMMEDIATE((template, balance) -> {
			template.update("UPDATE account SET balance = ? WHERE id = 'a'", balance);
			template.execute("EXECUTE IMMEDIATE 'COMMIT'");
		});

		private final BiConsumer<JdbcTemplate, Integer> write;

		Commit(BiConsumer<JdbcTemplate, Integer> write) {
			this.write = write;
		}

	}

}
