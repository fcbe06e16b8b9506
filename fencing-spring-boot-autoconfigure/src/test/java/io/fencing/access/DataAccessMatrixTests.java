package io.fencing.access;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.AdmissionTimeoutException;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.StaleTokenException;
import io.fencing.access.AccessApplication.Operations;
import io.fencing.access.AccessApplication.SeenUnfenced;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever way to the database an operation uses and however its transactions lie, what a
 * stale worker writes is refused, or is told as unfenced. docs/jdbc.md ends with what
 * became of each.
 */
class DataAccessMatrixTests {

	private static final String SILENT = "SILENT ";

	private static final Map<Table, Map<String, Map<String, Map<String, String>>>> OUTCOMES = new LinkedHashMap<>();

	static Stream<Setting> settings() {
		return Stream.of(Table.values())
			.flatMap((table) -> Stream.of(Database.values())
				.flatMap((database) -> Stream.of(Pool.values()).map((pool) -> new Setting(table, database, pool))));
	}

	// cases 65, 84, 85, 87
	@ParameterizedTest
	@MethodSource("settings")
	void whenAStaleWorkerWritesThenNothingIsChanged(Setting setting) {
		SoftAssertions softly = new SoftAssertions();
		try (Running running = new Running(setting)) {
			for (Access access : setting.table.access(running.context)) {
				for (AccessShape shape : setting.pool.shapes) {
					if (setting.table == Table.JPA || !shape.needsPersistenceContext()) {
						String outcome = running.outcome(access, shape);
						record(setting, access, shape, outcome);
						softly.assertThat(outcome)
							.as("%s, %s, %s", setting, access.name(), shape)
							.doesNotContain(SILENT);
					}
				}
			}
		}
		softly.assertAll();
	}

	private static void record(Setting setting, Access access, AccessShape shape, String outcome) {
		OUTCOMES.computeIfAbsent(setting.table, (table) -> new LinkedHashMap<>())
			.computeIfAbsent(access.name(), (name) -> new LinkedHashMap<>())
			.computeIfAbsent(setting.pool.title + shape.getTitle(), (title) -> new LinkedHashMap<>())
			.put(setting.database.title, outcome);
	}

	@AfterAll
	static void checkDocumentation() throws IOException {
		StringBuilder text = new StringBuilder();
		OUTCOMES.forEach((table, rows) -> {
			Set<String> columns = rows.values().iterator().next().keySet();
			text.append("\n| ").append(table.title).append(" | ").append(String.join(" | ", columns)).append(" |\n|");
			text.append(" --- |".repeat(columns.size() + 1)).append('\n');
			rows.forEach((name, cells) -> text.append("| ")
				.append(name)
				.append(" | ")
				.append(cells.values().stream().map(DataAccessMatrixTests::cell).collect(Collectors.joining(" | ")))
				.append(" |\n"));
		});
		Path generated = Path.of("target", "data-access.md");
		Files.createDirectories(generated.getParent());
		Files.writeString(generated, text);
		assertThat(Files.readString(Path.of("..", "docs", "jdbc.md")))
			.as("docs/jdbc.md ends with what %s has", generated)
			.endsWith(text);
	}

	private static String cell(Map<String, String> byDatabase) {
		List<String> distinct = byDatabase.values().stream().distinct().toList();
		return (distinct.size() == 1) ? distinct.get(0)
				: byDatabase.entrySet()
					.stream()
					.map((one) -> one.getKey() + ": " + one.getValue())
					.collect(Collectors.joining(", "));
	}

	/** What makes up an application. */
	record Setting(Table table, Database database, Pool pool) {
	}

	enum Table {

		JDBC("with a JDBC transaction manager") {
			@Override
			List<Access> access(ConfigurableApplicationContext context) {
				return Access.ofJdbc(context);
			}
		},

		JPA("with a JPA transaction manager") {
			@Override
			List<Access> access(ConfigurableApplicationContext context) {
				return Access.ofJpa(context);
			}
		};

		private final String title;

		Table(String title) {
			this.title = title;
		}

		abstract List<Access> access(ConfigurableApplicationContext context);

		String excluded() {
			return (this == JPA)
					? "org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration"
					: "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
							+ "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";
		}

	}

	enum Database {

		POSTGRESQL("PostgreSQL", """
				CREATE PROCEDURE write_balance(the_id VARCHAR, the_balance INT) LANGUAGE SQL
				AS 'UPDATE account SET balance = the_balance WHERE id = the_id'""") {
			@Override
			String newUrl() {
				return TestServers.newPostgresUrl() + "&escapeSyntaxCallMode=callIfNoReturn";
			}
		},

		MARIADB("MariaDB", """
				CREATE PROCEDURE write_balance(the_id VARCHAR(40), the_balance INT)
				UPDATE account SET balance = the_balance WHERE id = the_id""") {
			@Override
			String newUrl() {
				return TestServers.newMariaDbUrl();
			}
		};

		private final String title;

		private final String procedure;

		Database(String title, String procedure) {
			this.title = title;
			this.procedure = procedure;
		}

		abstract String newUrl();

	}

	enum Pool {

		PLAIN("", EnumSet.allOf(AccessShape.class)),

		LAZY("lazy pool: ", EnumSet.of(AccessShape.TRANSACTIONAL, AccessShape.JOINED, AccessShape.NONE),
				"access.lazy=true"),

		MANUAL_COMMIT("`auto-commit=false`: ",
				EnumSet.of(AccessShape.TRANSACTIONAL, AccessShape.JOINED, AccessShape.NONE),
				"spring.datasource.hikari.auto-commit=false");

		private final String title;

		private final Set<AccessShape> shapes;

		private final String[] properties;

		Pool(String title, Set<AccessShape> shapes, String... properties) {
			this.title = title;
			this.shapes = shapes;
			this.properties = properties;
		}

	}

	/** An application that runs, and a connection of our own to look at its database. */
	private static final class Running implements AutoCloseable {

		private final ConfigurableApplicationContext context;

		private final SingleConnectionDataSource own;

		private final JdbcTemplate jdbc;

		private int accounts;

		Running(Setting setting) {
			String url = setting.database.newUrl();
			this.own = new SingleConnectionDataSource(url, true);
			this.jdbc = new JdbcTemplate(this.own);
			this.jdbc.execute("CREATE TABLE account (id VARCHAR(40) PRIMARY KEY, balance INT NOT NULL)");
			this.jdbc.execute(
					"CREATE TABLE entry (id VARCHAR(40) PRIMARY KEY, account VARCHAR(40) NOT NULL, amount INT NOT NULL)");
			this.jdbc.execute(setting.database.procedure);
			SpringApplication application = new SpringApplication(AccessApplication.class);
			application.setWebApplicationType(WebApplicationType.NONE);
			List<String> arguments = new ArrayList<>(
					List.of("--spring.datasource.url=" + url, "--fencing.jdbc.initialize-schema=always",
							"--fencing.jdbc.admission-timeout=20ms", "--spring.main.banner-mode=off",
							"--spring.flyway.enabled=false", "--spring.datasource.hikari.maximum-pool-size=4",
							"--spring.autoconfigure.exclude=" + setting.table.excluded()));
			Stream.of(setting.pool.properties).map("--"::concat).forEach(arguments::add);
			this.context = application.run(arguments.toArray(String[]::new));
		}

		String outcome(Access access, AccessShape shape) {
			Attempt alone = attempt(access, shape, false);
			if (alone.failure instanceof InvalidFencedOperationException refusal) {
				assertThat(refusal).hasMessageContaining("REQUIRES_NEW");
				return "refused";
			}
			if (alone.failure != null) {
				return (alone.failure instanceof FencingException) ? SILENT + alone
						: "`" + alone.failure.getClass().getSimpleName() + "`";
			}
			if (alone.value != 1 && !shape.isReading()) {
				return "not written";
			}
			Attempt stale = attempt(access, shape, true);
			if (!alone.unfenced.isEmpty() && stale.unfenced.equals(alone.unfenced)) {
				return "told";
			}
			boolean right = (shape.isPausedBefore()) ? stale.failure == null && stale.value == 101
					: shape.isHeldDuringPause() ? stale.failure == null && stale.value == 1
							: stale.failure instanceof StaleTokenException && stale.value == 100;
			return right ? (alone.unfenced.isEmpty() ? "fenced" : "told") : SILENT + stale;
		}

		private Attempt attempt(Access access, AccessShape shape, boolean paused) {
			String id = "a" + this.accounts++;
			this.jdbc.update("INSERT INTO account VALUES (?, 0)", id);
			SeenUnfenced unfenced = this.context.getBean(SeenUnfenced.class);
			unfenced.take();
			Runnable pause = () -> {
				if (paused) {
					takeOver(id, shape.isHeldDuringPause());
				}
			};
			Work work = new Work(this.context, access, id, pause);
			Throwable failure = null;
			try {
				shape.run(work);
			}
			catch (Exception ex) {
				failure = ex;
			}
			assertThat(work.wrapsRefusal()).as("%s, %s", access.name(), shape).isFalse();
			int value = this.jdbc.queryForObject("SELECT balance + (SELECT COALESCE(SUM(amount), 0) FROM entry "
					+ "WHERE account = ?) FROM account WHERE id = ?", Integer.class, id, id);
			return new Attempt(failure, value, unfenced.take());
		}

		// the next holder, on another thread, to its end
		private void takeOver(String id, boolean held) {
			this.context.getBean(InMemoryLeaseCoordinator.class)
				.forgetLease(this.context.getBean(FencedResourceFactory.class).create("account:" + id));
			TransactionTemplate transaction = new TransactionTemplate(
					this.context.getBean(PlatformTransactionManager.class));
			Throwable failure = CompletableFuture
				.runAsync(() -> Work.unchecked(() -> this.context.getBean(Operations.class)
					.plain(id,
							() -> transaction.execute((status) -> this.context.getBean(JdbcTemplate.class)
								.update("UPDATE account SET balance = 100 WHERE id = ?", id)))))
				.handle((done, ex) -> (ex != null) ? ex.getCause() : null)
				.join();
			if (held) {
				assertThat(failure).isInstanceOf(AdmissionTimeoutException.class);
			}
			else {
				assertThat(failure).isNull();
			}
		}

		@Override
		public void close() {
			this.context.close();
			this.own.destroy();
		}

	}

	private record Attempt(@Nullable Throwable failure, int value, List<String> unfenced) {
	}

}
