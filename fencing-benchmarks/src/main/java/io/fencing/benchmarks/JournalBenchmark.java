package io.fencing.benchmarks;

import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.autoconfigure.FencingAutoConfiguration;
import io.fencing.autoconfigure.FencingJdbcAutoConfiguration;
import io.fencing.autoconfigure.FencingJournalAutoConfiguration;
import io.fencing.benchmarks.JdbcBenchmark.Statements;
import io.fencing.lease.LeaseCoordinator;
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

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An operation with one update, of a row of each thread: without an identity, with a new
 * one, and answered with what is recorded. Its lease is granted at once.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = JournalBenchmark.WARM_UP * JournalBenchmark.SIDES, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = JournalBenchmark.ROUNDS * JournalBenchmark.SIDES, time = 500,
		timeUnit = TimeUnit.MILLISECONDS)
public class JournalBenchmark {

	/** Without an identity, with a new one, and answered. */
	static final int SIDES = 3;

	/** Of each side. */
	static final int WARM_UP = 20;

	/** Of each side. */
	static final int ROUNDS = 11;

	private static final int MOST_THREADS = 64;

	private final AtomicInteger workers = new AtomicInteger();

	@Param({ "POSTGRESQL" })
	private Statements database = Statements.POSTGRESQL;

	@Param({ "jdbc:postgresql://127.0.0.1:5432/postgres?user=postgres" })
	private String url = "";

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private int iteration;

	private Side side = Side.PLAIN;

	@SuppressWarnings("NullAway.Init")
	private FencedOperations operations;

	@SuppressWarnings("NullAway.Init")
	private JdbcTemplate template;

	@SuppressWarnings("NullAway.Init")
	private TransactionTemplate transaction;

	/**
	 * Start the application.
	 */
	@Setup
	public void start() {
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("benchmark", Map.of("benchmark.url", this.url,
					"fencing.journal.fingerprint-key", "secret", "fencing.jdbc.initialize-schema", "never")));
		this.context.register(DatabaseConfiguration.class, FencingAutoConfiguration.class,
				FencingJdbcAutoConfiguration.class, FencingJournalAutoConfiguration.class);
		try (HikariDataSource dataSource = DatabaseConfiguration.connect(this.url)) {
			String dialect = this.database.name().toLowerCase(Locale.ROOT);
			new ResourceDatabasePopulator(new ClassPathResource("io/fencing/jdbc/schema-drop-" + dialect + ".sql"),
					new ClassPathResource("io/fencing/jdbc/schema-" + dialect + ".sql"))
				.execute(dataSource);
		}
		this.context.refresh();
		this.operations = this.context.getBean(FencedOperations.class);
		this.template = this.context.getBean(JdbcTemplate.class);
		this.transaction = new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class));
		this.template.execute("DROP TABLE IF EXISTS account");
		this.template.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL)");
		for (int id = 0; id < MOST_THREADS; id++) {
			this.template.update("INSERT INTO account VALUES (?, 0)", id);
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
	 * Stop the application.
	 */
	@TearDown
	public void stop() {
		this.context.close();
	}

	/**
	 * One call.
	 * @param worker the thread's own
	 * @return its result
	 */
	@Benchmark
	public Integer call(Worker worker) {
		return switch (this.side) {
			case PLAIN -> this.operations.call(FencedOperationRequest.of("plain", worker.resource),
					() -> this.transaction.execute((status) -> update(worker)));
			case RECORDED -> recorded(worker, UUID.randomUUID().toString());
			case ANSWERED -> recorded(worker, worker.resource);
		};
	}

	private Integer recorded(Worker worker, String identity) {
		FencedOperationRequest request = FencedOperationRequest.builder("recorded")
			.resource(worker.resource)
			.operationId(identity)
			.input(worker.id)
			.resultType(Integer.class)
			.build();
		return this.operations.call(request, () -> update(worker));
	}

	private Integer update(Worker worker) {
		return this.template.update("UPDATE account SET balance = balance + 1 WHERE id = ?", worker.id);
	}

	/**
	 * What is measured in turn.
	 */
	private enum Side {

		PLAIN, RECORDED, ANSWERED

	}

	/**
	 * What each thread has of its own: a row and a resource.
	 */
	@State(Scope.Thread)
	public static class Worker {

		private int id;

		private String resource = "";

		/**
		 * Take a row.
		 * @param benchmark counts the threads
		 */
		@Setup
		public void take(JournalBenchmark benchmark) {
			this.id = benchmark.workers.getAndIncrement();
			this.resource = "account:" + this.id;
		}

	}

	/**
	 * The database, and leases for everybody.
	 */
	@Configuration(proxyBeanMethods = false)
	static class DatabaseConfiguration {

		static HikariDataSource connect(String url) {
			HikariDataSource dataSource = new HikariDataSource();
			dataSource.setJdbcUrl(url);
			dataSource.setMaximumPoolSize(2 * MOST_THREADS);
			dataSource.setMinimumIdle(16);
			dataSource.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
			return dataSource;
		}

		@Bean
		DataSource dataSource(@Value("${benchmark.url}") String url) {
			return connect(url);
		}

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

		@Bean
		LeaseCoordinator coordinator() {
			return new CallApplication.GrantingCoordinator();
		}

	}

}
