package io.fencing.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.context.OperationContext;
import io.fencing.fence.jdbc.FencedDataSourcePostProcessor;
import io.fencing.fence.jdbc.FencedTemplatePostProcessor;
import io.fencing.fence.jdbc.HoldingTransactionPostProcessor;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFenceSettings;
import io.fencing.fence.jdbc.JdbcFences;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A transaction with one update, of a row of each thread: plain; with the same claim and
 * hold written by hand with plain JDBC, once without any limit and once with a time-out
 * for each of their statements, as ours have; and as an operation of ours, without its
 * lease.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(JdbcBenchmark.FORKS)
@Warmup(iterations = JdbcBenchmark.WARM_UP * JdbcBenchmark.SIDES, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = JdbcBenchmark.ROUNDS * JdbcBenchmark.SIDES, time = 100, timeUnit = TimeUnit.MILLISECONDS)
public class JdbcBenchmark {

	/** Plain, written by hand without and with a time-out, and ours. */
	static final int SIDES = 4;

	/** What the compiler makes of the same code differs between JVMs. */
	static final int FORKS = 2;

	/** Of each side: until the compiler is done with the longest of them. */
	static final int WARM_UP = 120;

	/** Of each side and JVM. */
	static final int ROUNDS = 60;

	private static final int MOST_THREADS = 64;

	private static final AtomicLong TOKENS = new AtomicLong(System.currentTimeMillis() * 1000);

	private final AtomicInteger workers = new AtomicInteger();

	@Param({ "POSTGRESQL" })
	private Statements database = Statements.POSTGRESQL;

	@Param({ "jdbc:postgresql://127.0.0.1:5432/postgres?user=postgres" })
	private String url = "";

	private final HikariDataSource dataSource = new HikariDataSource();

	private final JdbcTemplate plainTemplate = new JdbcTemplate(this.dataSource);

	private final TransactionTemplate plainTransaction = new TransactionTemplate(
			new JdbcTransactionManager(this.dataSource));

	private final JdbcFence fence = new JdbcFence(null, this.dataSource, JdbcFenceSettings.defaults(),
			new FencingListeners(List.of()));

	private final JdbcFences fences = new JdbcFences(JdbcFenceSettings.defaults(), new FencingListeners(List.of()),
			() -> List.of(this.fence), List::of);

	private final DataSource fencedDataSource = (DataSource) new FencedDataSourcePostProcessor(() -> this.fences)
		.postProcessAfterInitialization(this.dataSource, "dataSource");

	private final JdbcTemplate fencedTemplate = (JdbcTemplate) new FencedTemplatePostProcessor(() -> this.fences)
		.postProcessAfterInitialization(new JdbcTemplate(this.fencedDataSource), "jdbcTemplate");

	private final TransactionTemplate fencedTransaction = new TransactionTemplate(
			(JdbcTransactionManager) new HoldingTransactionPostProcessor(() -> this.fences)
				.postProcessAfterInitialization(new JdbcTransactionManager(this.fencedDataSource),
						"transactionManager"));

	private int iteration;

	private Side side = Side.PLAIN;

	/**
	 * Create the tables.
	 */
	@Setup
	public void connect() {
		this.dataSource.setJdbcUrl(this.url);
		this.dataSource.setMaximumPoolSize(2 * MOST_THREADS);
		this.dataSource.setMinimumIdle(16);
		// else each claim of ours on MariaDB changes it and changes it back
		this.dataSource.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		String dialect = this.database.name().toLowerCase(Locale.ROOT);
		new ResourceDatabasePopulator(new ClassPathResource("io/fencing/jdbc/schema-drop-" + dialect + ".sql"),
				new ClassPathResource("io/fencing/jdbc/schema-" + dialect + ".sql"))
			.execute(this.dataSource);
		this.plainTemplate.execute("DROP TABLE IF EXISTS account");
		this.plainTemplate.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)");
		for (int id = 0; id < MOST_THREADS; id++) {
			this.plainTemplate.update("INSERT INTO account VALUES (?, 0)", id);
		}
	}

	/**
	 * Take the next side.
	 */
	@Setup(Level.Iteration)
	public void alternate() {
		this.side = Side.values()[Rounds.side(this.iteration, SIDES)];
		this.iteration++;
	}

	/**
	 * Disconnect.
	 */
	@TearDown
	public void disconnect() {
		this.dataSource.close();
	}

	/**
	 * One transaction.
	 * @param worker the thread's own
	 * @throws SQLException if the database fails
	 */
	@Benchmark
	public void transaction(Worker worker) throws SQLException {
		switch (this.side) {
			case PLAIN -> update(worker, this.plainTransaction, this.plainTemplate);
			case BY_HAND, BY_HAND_WITH_TIME_OUT -> updateByHand(worker);
			case OURS -> updateFenced(worker);
		}
	}

	private static void update(Worker worker, TransactionTemplate transaction, JdbcTemplate template) {
		transaction.executeWithoutResult((status) -> update(worker, template));
	}

	private static void update(Worker worker, JdbcTemplate template) {
		template.update("UPDATE account SET balance = balance + 1 WHERE id = ?", worker.id);
	}

	private void updateFenced(Worker worker) {
		OperationContext context = new OperationContext("benchmark",
				List.of(new BenchmarkLease(worker.resource, worker.nextToken())), null);
		this.fence.claim(context);
		try (OperationContext.Scope scope = context.open()) {
			update(worker, this.fencedTransaction, this.fencedTemplate);
		}
		if (!context.hasMetFence()) {
			throw new IllegalStateException("Nothing is fenced");
		}
	}

	private void updateByHand(Worker worker) throws SQLException {
		FencingToken token = worker.nextToken();
		claim(worker, token);
		this.plainTransaction.executeWithoutResult((status) -> {
			Connection connection = DataSourceUtils.getConnection(this.dataSource);
			try {
				check(connection, this.database.hold, worker, token);
				Savepoint mark = this.database.innoDb ? connection.setSavepoint("mark") : null;
				update(worker, this.plainTemplate);
				if (mark != null) {
					connection.releaseSavepoint(mark);
				}
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private void claim(Worker worker, FencingToken token) throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			boolean shown;
			try (PreparedStatement claim = prepare(connection, this.database.claim)) {
				claim.setLong(1, token.value());
				claim.setString(2, token.owner());
				claim.setString(3, worker.resource.getKey());
				claim.setLong(4, token.value());
				claim.setLong(5, token.value());
				shown = claim.execute() && claim.getResultSet().next();
			}
			if (!shown) {
				check(connection, Statements.READ, worker, token);
			}
		}
	}

	private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
		PreparedStatement statement = connection.prepareStatement(sql);
		if (this.side == Side.BY_HAND_WITH_TIME_OUT) {
			statement.setQueryTimeout(4);
		}
		return statement;
	}

	private void check(Connection connection, String sql, Worker worker, FencingToken token) throws SQLException {
		try (PreparedStatement statement = prepare(connection, sql)) {
			statement.setString(1, worker.resource.getKey());
			try (ResultSet rows = statement.executeQuery()) {
				if (!rows.next() || rows.getLong(1) != token.value() || !token.owner().equals(rows.getString(2))) {
					throw new IllegalStateException("Stale");
				}
			}
		}
	}

	/**
	 * What is measured in turn.
	 */
	private enum Side {

		PLAIN, BY_HAND, BY_HAND_WITH_TIME_OUT, OURS

	}

	/**
	 * The statements of a claim and a hold, as somebody would write them by hand.
	 */
	public enum Statements {

		/** PostgreSQL. */
		POSTGRESQL(
				"UPDATE fencing_fence SET token = ?, owner = ?, claimed_at = CURRENT_TIMESTAMP WHERE resource_key = "
						+ "(SELECT resource_key FROM fencing_fence WHERE resource_key = ? AND token < ? "
						+ "FOR NO KEY UPDATE SKIP LOCKED) AND token < ? RETURNING owner",
				"SELECT token, owner FROM fencing_fence WHERE resource_key = ? FOR SHARE SKIP LOCKED", false),

		/** MariaDB, which does not answer with the row, and may replace a transaction. */
		MARIADB("UPDATE (SELECT resource_key, ? AS new_token, ? AS new_owner FROM fencing_fence "
				+ "WHERE resource_key = ? AND token < ? LIMIT 1 FOR UPDATE SKIP LOCKED) AS unlocked "
				+ "STRAIGHT_JOIN fencing_fence AS fence ON fence.resource_key = unlocked.resource_key "
				+ "AND fence.token < ? SET fence.token = unlocked.new_token, fence.owner = unlocked.new_owner, "
				+ "fence.claimed_at = UTC_TIMESTAMP(6)",
				"SELECT token, owner FROM fencing_fence WHERE resource_key = ? LOCK IN SHARE MODE SKIP LOCKED", true);

		static final String READ = "SELECT token, owner FROM fencing_fence WHERE resource_key = ?";

		private final String claim;

		private final String hold;

		private final boolean innoDb;

		Statements(String claim, String hold, boolean innoDb) {
			this.claim = claim;
			this.hold = hold;
			this.innoDb = innoDb;
		}

	}

	/**
	 * What each thread has of its own: a row and a resource.
	 */
	@State(Scope.Thread)
	public static class Worker {

		private int id;

		private FencedResource resource = new FencedResourceFactory("benchmark", "secret").create("none");

		/**
		 * Take a row.
		 * @param benchmark counts the threads
		 */
		@Setup
		public void take(JdbcBenchmark benchmark) {
			this.id = benchmark.workers.getAndIncrement();
			this.resource = new FencedResourceFactory("benchmark", "secret").create("account:" + this.id);
			// its row is there for all sides
			benchmark.updateFenced(this);
		}

		private FencingToken nextToken() {
			return new FencingToken(TOKENS.incrementAndGet(), "owner-" + this.id);
		}

	}

}
