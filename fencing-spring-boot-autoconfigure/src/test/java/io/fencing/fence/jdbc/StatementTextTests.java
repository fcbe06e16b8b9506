package io.fencing.fence.jdbc;

import java.util.Set;

import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Careful rather than clever.
 */
class StatementTextTests {

	private static boolean isPlainRead(String sql) {
		return new StatementText(sql).isPlainRead(Set.of("SETVAL"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "SELECT 1", " select * from t where deleted = false;", "(SELECT 1) UNION (SELECT 2)",
			"/* hint */ -- who\n SELECT 1", "VALUES (1)", "SHOW timezone", "WITH x AS (SELECT 1) SELECT * FROM x",
			"SELECT updated_at FROM t" })
	void whenTextIsPlainlyAReadThenItIs(String sql) {
		assertThat(isPlainRead(sql)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ";", "--", "/*", "UPDATE t SET a = 1", "insert into t values (1)",
			"WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SELECT * INTO y FROM t", "SELECT 1; DROP TABLE t",
			"SELECT * FROM t FOR UPDATE", "SELECT setval('s', 1)", "SELECT pg_catalog.SetVal('s', 1)",
			"SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (1))", "CALL p()", "{call p()}",
			"EXPLAIN ANALYZE DELETE FROM t", "DO $$ BEGIN END $$", "TRUNCATE t", "EXECUTE q", "SELECT ' ;DROP TABLE t",
			"SELECT 1 -- don't\n; DROP TABLE t", "SELECT 'a\\'; DROP TABLE t --'",
			"SELECT \"it's\" FROM t; DROP TABLE t", "SELECT $$ ' $$; DROP TABLE t", "SELECT 1 /* ; */ ; VALUES (2)",
			"/* /* nested */ SELECT */ UPDATE t SET a = 1", "/* /* nested */ SELECT */ TRUNCATE t",
			"/* /* nested */ TRUNCATE t", "// H2: SELECT\nTRUNCATE t" })
	void whenTextIsNotPlainlyAReadThenItIsNone(String sql) {
		assertThat(isPlainRead(sql)).isFalse();
	}

	@Property(tries = 300)
	void whenAWritingWordStandsAnywhereThenItIsNoRead(@ForAll String before, @ForAll String after) {
		// else it may stand in a literal
		Assume.that(!before.contains("'") || !after.contains("'"));
		assertThat(isPlainRead("SELECT " + before + " UPDATE " + after)).isFalse();
		assertThat(isPlainRead("SELECT " + before + " ;DROP " + after)).isFalse();
		assertThat(isPlainRead(before + " ;DELETE FROM t " + after)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "SET AUTOCOMMIT TRUE", "COMMIT", "end", "ABORT;", "ROLLBACK WORK", "BEGIN",
			"START TRANSACTION", "PREPARE TRANSACTION 'x'", "UPDATE t SET a = 1; COMMIT", "/* of ours */ COMMIT",
			"/* /* nested */ SELECT */ COMMIT", "/* /* nested */ COMMIT", "// H2: SELECT\nCOMMIT" })
	void whenTextControlsTheTransactionThenItIsSeen(String sql) {
		assertThat(new StatementText(sql).controlsTransaction()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "ROLLBACK TO SAVEPOINT s", "rollback work to s" })
	void whenTextRollsBackToASavepointThenItDoesNotEndTheTransaction(String sql) {
		assertThat(new StatementText(sql).controlsTransaction()).isFalse();
		assertThat(new StatementText(sql).mayUndoHold()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "CREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END $$ LANGUAGE plpgsql",
			"SELECT 'commit'", "UPDATE t SET state = 'end'", "PREPARE q AS SELECT 1",
			"UPDATE t SET note = 'it''s late; commit to it'" })
	void whenWordsStandInsideThenTheTransactionGoesOn(String sql) {
		assertThat(new StatementText(sql).controlsTransaction()).isFalse();
	}

}
