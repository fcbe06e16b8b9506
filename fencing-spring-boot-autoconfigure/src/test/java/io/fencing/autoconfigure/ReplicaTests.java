package io.fencing.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.fencing.FencedOperation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.autoconfigure.StorageSelectionTests.Coordinator;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A replica, which lags and can only be read: behind a {@link DataSource} that sends
 * there what is declared read-only, and as a storage of its own.
 */
@ParameterizedClass
@EnumSource
@ExtendWith(OutputCaptureExtension.class)
class ReplicaTests {

	private static final String READ = "SELECT balance FROM account";

	private final Server server;

	private final Counted writer;

	private final Counted replica;

	private final JdbcTemplate behindReplica;

	ReplicaTests(Server server) {
		this.server = server;
		this.writer = new Counted(server, server.newUrl.get(), "");
		this.replica = new Counted(server, server.newUrl.get(), server.readOnly);
		this.behindReplica = new JdbcTemplate(this.replica.writable);
	}

	@BeforeEach
	void createTables() {
		createTables(this.writer);
		createTables(this.replica);
	}

	private void createTables(Counted database) {
		new ResourceDatabasePopulator(new ClassPathResource(this.server.schema)).execute(database.writable);
		JdbcTemplate template = new JdbcTemplate(database.writable);
		template.execute("CREATE TABLE account (balance INT NOT NULL)");
		template.update("INSERT INTO account VALUES (0)");
	}

	private ApplicationContextRunner runner(boolean lazy) {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return TransactionSynchronizationManager.isCurrentTransactionReadOnly() ? "1" : "2";
			}

		};
		routing.setTargetDataSources(Map.of("1", this.replica, "2", this.writer));
		routing.afterPropertiesSet();
		return runner(lazy ? new LazyConnectionDataSourceProxy(routing) : routing);
	}

	private static ApplicationContextRunner runner(DataSource dataSource) {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
				FencingJdbcAutoConfiguration.class, FencingAopAutoConfiguration.class, FencingAutoConfiguration.class))
			.withUserConfiguration(Coordinator.class)
			.withBean("dataSource", DataSource.class, () -> dataSource)
			.withBean(Account.class);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void case29WhenCallerIsReadOnlyThenClaimAndWriteGoToTheWriter(boolean lazy) {
		runner(lazy).run((context) -> {
			Account account = context.getBean(Account.class);
			readOnly(context, Propagation.SUPPORTS).executeWithoutResult((status) -> account.add());
			readOnly(context, Propagation.SUPPORTS).executeWithoutResult((status) -> account.addInOwnTransaction());
			readOnly(context, Propagation.REQUIRED).executeWithoutResult((status) -> account.addInOwnTransaction());
			assertThat(this.writer.balance()).isEqualTo(3);
		});
	}

	@ParameterizedTest
	@EnumSource
	void case29WhenReplicaLagsThenReadOutsideOfATransactionIsRefusedUntilItShowsTheClaim(Read read) {
		runner(false).run((context) -> {
			Account account = context.getBean(Account.class);
			TransactionTemplate scope = readOnly(context, Propagation.SUPPORTS);
			account.add();
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> account.run(() -> scope.execute((status) -> read.from.applyAsInt(context))))
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.LAGGING))
				.satisfies((ex) -> assertThat(ex.isRetryable()).isTrue());
			account.run(() -> {
				replicate();
				scope.executeWithoutResult((status) -> assertThat(read.from.applyAsInt(context)).isOne());
			});
		});
	}

	@Test
	void case29WhenConnectionWasTakenInAnotherReadOnlyTransactionThenReadIsRefused() {
		TransactionTemplate other = new TransactionTemplate(new JdbcTransactionManager(TestServers.newH2()));
		other.setReadOnly(true);
		runner(false).run((context) -> {
			Account account = context.getBean(Account.class);
			account.add();
			assertThatExceptionOfType(StaleTokenException.class)
				.isThrownBy(() -> other.executeWithoutResult((status) -> {
					assertThat(Read.TEMPLATE.from.applyAsInt(context)).isZero();
					account.run(() -> Read.TEMPLATE.from.applyAsInt(context));
				}));
		});
	}

	@Test
	void case29WhenConnectionIsUsedAfterItsReadOnlyScopeThenReadIsRefused() {
		runner(false).run((context) -> {
			Account account = context.getBean(Account.class);
			account.add();
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> account.run(() -> {
				try (Connection connection = readOnly(context, Propagation.SUPPORTS)
					.execute((status) -> connect(context.getBean(DataSource.class)))) {
					connection.createStatement().executeQuery(READ);
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			}));
		});
	}

	@Test
	void whenAReplicaHasNoTableYetThenTheWriterGetsItsOwn() {
		new JdbcTemplate(this.writer.writable).execute("DROP TABLE fencing_fence");
		this.behindReplica.execute("DROP TABLE fencing_fence");
		runner(false).withPropertyValues("fencing.jdbc.initialize-schema=always")
			.run((context) -> assertThat(new JdbcTemplate(this.writer.writable)
				.queryForObject("SELECT COUNT(*) FROM fencing_fence", Integer.class)).isZero());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void case29WhenThereIsNoOperationThenRoutingIsUntouched(boolean lazy) {
		runner(lazy).run((context) -> {
			this.writer.connections.set(0);
			this.replica.connections.set(0);
			this.behindReplica.update("UPDATE account SET balance = 7");
			readOnly(context, Propagation.SUPPORTS)
				.executeWithoutResult((status) -> assertThat(Read.TEMPLATE.from.applyAsInt(context)).isEqualTo(7));
			assertThat(this.writer.connections).hasValue(0);
			assertThat(this.replica.connections).hasValue(1);
			readOnly(context, Propagation.REQUIRED).executeWithoutResult(
					(status) -> assertThat(Read.TEMPLATE.from.applyAsInt(context)).isEqualTo(lazy ? 7 : 0));
			assertThat(this.replica.connections).hasValue(lazy ? 2 : 1);
		});
	}

	@Test
	void case96WhenAReplicaIsNamedThenOperationsWaitUntilItShowsTheirClaim(CapturedOutput output) {
		JdbcTemplate reporting = new JdbcTemplate(this.replica);
		ApplicationContextRunner reported = runner(this.writer)
			.withBean("reporting", DataSource.class, () -> this.replica,
					(definition) -> definition.setAutowireCandidate(false))
			.withPropertyValues("fencing.jdbc.storages=reporting");
		reported.withPropertyValues("fencing.jdbc.admission-timeout=400ms").run((context) -> {
			assertThat(output).doesNotContain("could not be looked at");
			Account account = context.getBean(Account.class);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(account::add)
				.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.LAGGING))
				.withMessageContaining("reporting");
			assertThat(this.writer.balance()).isZero();
		});
		ScheduledExecutorService replication = Executors.newSingleThreadScheduledExecutor();
		try {
			replication.scheduleWithFixedDelay(this::replicate, 0, 20, TimeUnit.MILLISECONDS);
			reported.withPropertyValues("fencing.jdbc.admission-timeout=30s").run((context) -> {
				Account account = context.getBean(Account.class);
				account.add();
				account.run(() -> assertThat(reporting.queryForObject(READ, Integer.class)).isOne());
			});
		}
		finally {
			replication.shutdownNow();
		}
	}

	@Test
	void case96WhenTheNamedOneHasSeveralReplicasThenEachHasToShowTheClaim() {
		Counted second = new Counted(this.server, this.server.newUrl.get(), this.server.readOnly);
		createTables(second);
		AtomicInteger next = new AtomicInteger();
		DataSource balanced = new DelegatingDataSource(this.replica) {

			@Override
			public Connection getConnection() throws SQLException {
				return (next.getAndIncrement() % 2 == 0) ? super.getConnection() : second.getConnection();
			}

		};
		runner(this.writer)
			.withBean("reporting", DataSource.class, () -> balanced,
					(definition) -> definition.setAutowireCandidate(false))
			.withPropertyValues("fencing.jdbc.storages=reporting", "fencing.jdbc.admission-timeout=30s")
			.run((context) -> {
				JdbcTemplate reporting = new JdbcTemplate(context.getBean("reporting", DataSource.class));
				ScheduledExecutorService replication = Executors.newSingleThreadScheduledExecutor();
				try {
					replication.scheduleWithFixedDelay(this::replicate, 0, 20, TimeUnit.MILLISECONDS);
					assertThatExceptionOfType(StaleTokenException.class)
						.isThrownBy(() -> context.getBean(Account.class).run(() -> {
							// one of them leads to the other replica
							reporting.queryForObject(READ, Integer.class);
							reporting.queryForObject(READ, Integer.class);
						}));
				}
				finally {
					replication.shutdownNow();
				}
			});
	}

	@Test
	void whenATargetCanOnlyBeReadThenTheOthersAreMadeReadyAndCleanedUp(CapturedOutput output) {
		runner(false).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("could not be looked at");
			for (Counted database : new Counted[] { this.writer, this.replica }) {
				new JdbcTemplate(database.writable)
					.update("INSERT INTO fencing_fence VALUES ('k', 'old', 1, 'owner', '2020-01-01')");
			}
			JdbcFence fence = context.getBean(JdbcFences.class).getFences().iterator().next();
			assertThat(fence.removeExpired()).isOne();
			assertThat(this.behindReplica.queryForObject("SELECT COUNT(*) FROM fencing_fence", Integer.class)).isOne();
		});
	}

	private static DataSource postgres(String url) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setUrl(url);
		return dataSource;
	}

	private static TransactionTemplate readOnly(ApplicationContext context, Propagation propagation) {
		TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		template.setPropagationBehavior(propagation.value());
		template.setReadOnly(true);
		return template;
	}

	private static Connection connect(DataSource dataSource) {
		try {
			return dataSource.getConnection();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void replicate() {
		new TransactionTemplate(new JdbcTransactionManager(this.replica.writable)).executeWithoutResult((status) -> {
			this.behindReplica.update("DELETE FROM fencing_fence");
			new JdbcTemplate(this.writer.writable).queryForList("SELECT * FROM fencing_fence")
				.forEach((row) -> this.behindReplica.update("INSERT INTO fencing_fence VALUES (?, ?, ?, ?, ?)",
						row.values().toArray()));
			this.behindReplica.update("UPDATE account SET balance = ?", this.writer.balance());
		});
	}

	/**
	 * What the application does.
	 */
	static class Account {

		private final JdbcTemplate jdbc;

		Account(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@FencedOperation(resource = "account", name = "add")
		void add() {
			this.jdbc.update("UPDATE account SET balance = balance + 1");
		}

		@FencedOperation(resource = "account", name = "addInOwnTransaction")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void addInOwnTransaction() {
			this.jdbc.update("UPDATE account SET balance = balance + 1");
		}

		@FencedOperation(resource = "account", name = "run")
		void run(Runnable body) {
			body.run();
		}

	}

	/**
	 * Ways to read.
	 */
	enum Read {

		/** Through a template. */
		TEMPLATE((context) -> context.getBean(JdbcTemplate.class).queryForObject(READ, Integer.class)),

		/** Row by row. */
		STREAM((context) -> {
			try (Stream<Integer> rows = context.getBean(JdbcTemplate.class)
				.queryForStream(READ, (row, number) -> row.getInt(1))) {
				return rows.findFirst().orElseThrow();
			}
		}),

		/** On the connection that is bound. */
		CONNECTION((context) -> onConnection(context, READ)),

		/** By a text that looks like a write. */
		LIKE_A_WRITE((context) -> onConnection(context, READ + " WHERE 'INSERT' = 'INSERT'"));

		private final ToIntFunction<ApplicationContext> from;

		Read(ToIntFunction<ApplicationContext> from) {
			this.from = from;
		}

		private static int onConnection(ApplicationContext context, String sql) {
			DataSource dataSource = context.getBean(DataSource.class);
			Connection connection = DataSourceUtils.getConnection(dataSource);
			try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
				rows.next();
				return rows.getInt(1);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			finally {
				DataSourceUtils.releaseConnection(connection, dataSource);
			}
		}

	}

	/**
	 * Servers, some of whose sessions can only read.
	 */
	enum Server {

		/** PostgreSQL. */
		POSTGRESQL(TestServers::newPostgresUrl, ReplicaTests::postgres,
				"&options=-c%20default_transaction_read_only=on"),

		/** MariaDB. */
		MARIADB(TestServers::newMariaDbUrl, TestServers::dataSource, "&sessionVariables=transaction_read_only=1");

		private final Supplier<String> newUrl;

		private final Function<String, DataSource> connect;

		private final String readOnly;

		private final String schema = "io/fencing/jdbc/schema-" + name().toLowerCase(Locale.ROOT) + ".sql";

		Server(Supplier<String> newUrl, Function<String, DataSource> connect, String readOnly) {
			this.newUrl = newUrl;
			this.connect = connect;
			this.readOnly = readOnly;
		}

	}

	/**
	 * Counts its connections.
	 */
	private static final class Counted extends DelegatingDataSource {

		private final DataSource writable;

		private final AtomicInteger connections = new AtomicInteger();

		Counted(Server server, String url, String options) {
			super(server.connect.apply(url + options));
			this.writable = server.connect.apply(url);
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.connections.incrementAndGet();
			return super.getConnection();
		}

		private int balance() {
			return new JdbcTemplate(this.writable).queryForObject(READ, Integer.class);
		}

	}

}
