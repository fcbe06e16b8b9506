package io.fencing.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The gate stands right in front of the database.
 */
class GateDataSourceTests {

	private final List<String> seen = new ArrayList<>();

	private GateDataSource dataSource;

	private JdbcTemplate jdbc;

	private JdbcTemplate others;

	@BeforeEach
	void connect() {
		this.dataSource = new GateDataSource(TestServers.newH2());
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.others = new JdbcTemplate(this.dataSource.getTargetDataSource());
		this.jdbc.execute("CREATE TABLE x (v INT)");
		this.dataSource.takeStatements();
	}

	@Test
	void whenStatementMatchesThenActionRunsOnceBeforeItIsSent() {
		this.dataSource.beforeNextStatement((sql) -> sql.startsWith("INSERT"), () -> this.seen.add(count()));
		assertThat(this.jdbc.queryForObject("SELECT 1", Integer.class)).isOne();
		assertThat(this.seen).isEmpty();
		this.jdbc.update("INSERT INTO x VALUES (?)", 1);
		this.jdbc.update("INSERT INTO x VALUES (2)");
		assertThat(this.seen).containsExactly("0");
		assertThat(this.dataSource.takeStatements()).containsExactly("SELECT 1", "INSERT INTO x VALUES (?)",
				"INSERT INTO x VALUES (2)");
		assertThat(this.dataSource.takeStatements()).isEmpty();
	}

	@Test
	void whenOtherThreadSendsThenItPasses() {
		this.dataSource.beforeNextStatement((sql) -> true, () -> this.seen.add("mine"));
		CompletableFuture.runAsync(() -> this.jdbc.update("INSERT INTO x VALUES (1)")).join();
		assertThat(this.seen).isEmpty();
		this.dataSource.open();
		this.jdbc.update("INSERT INTO x VALUES (2)");
		assertThat(this.seen).isEmpty();
	}

	private String count() {
		return this.others.queryForObject("SELECT count(*) FROM x", String.class);
	}

}
