package io.fencing.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application with two DataSources: JPA on the primary one, on PostgreSQL, and JDBC on
 * the other one, that is no default candidate, on H2.
 */
class TwoStoragesTests {

	private static final String RAISE = "UPDATE fencing_fence SET token = token + 1";

	private static ConfigurableApplicationContext context;

	@BeforeAll
	static void start() {
		context = start(Application.class);
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application).web(WebApplicationType.NONE)
			.properties("spring.main.banner-mode=off", "fencing.jdbc.initialize-schema=always",
					"fencing.jdbc.admission-timeout=300ms", "spring.datasource.url=" + TestServers.newPostgresUrl(),
					"spring.datasource.hikari.maximum-pool-size=4")
			.properties(properties)
			.run();
	}

	@AfterAll
	static void stop() {
		context.close();
	}

	@BeforeEach
	void createTables() {
		jdbc("jdbcTemplate").execute("DROP TABLE IF EXISTS orders");
		jdbc("jdbcTemplate").execute("CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, amount INT NOT NULL)");
		jdbc("jdbcTemplate").update("INSERT INTO orders VALUES ('1', 0)");
		jdbc("auditJdbc").execute("DROP TABLE IF EXISTS audit");
		jdbc("auditJdbc").execute("CREATE TABLE audit (amount INT NOT NULL)");
		events().clear();
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(FencingContext.current()).isNull();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	private static JdbcTemplate jdbc(String name) {
		return context.getBean(name, JdbcTemplate.class);
	}

	private static TransactionTemplate transaction(String manager, int propagation) {
		TransactionTemplate template = new TransactionTemplate(
				context.getBean(manager, PlatformTransactionManager.class));
		template.setPropagationBehavior(propagation);
		return template;
	}

	private static TransactionTemplate transaction(String manager) {
		return transaction(manager, TransactionTemplate.PROPAGATION_REQUIRED);
	}

	private static <T> T call(Callable<T> body) throws Exception {
		return call(FencedOperationRequest.builder("order"), body);
	}

	private static <T> T call(FencedOperationRequest.Builder request, Callable<T> body) throws Exception {
		return context.getBean(FencedOperations.class).call(request.resource("order:1").build(), body::call);
	}

	private static List<String> events() {
		return context.getBean(Events.class).texts;
	}

	private static void order(int amount) {
		Orders orders = context.getBean(Orders.class);
		Order order = orders.findById("1").orElseThrow();
		order.amount = amount;
		orders.save(order);
	}

	private static int audit() {
		return jdbc("auditJdbc").update("INSERT INTO audit VALUES (1)");
	}

	private static List<Integer> stored() {
		return List.of(jdbc("jdbcTemplate").queryForObject("SELECT amount FROM orders", Integer.class),
				jdbc("auditJdbc").queryForObject("SELECT COUNT(*) FROM audit", Integer.class));
	}

	@Test
	void case30WhenOperationWritesToBothThenEachHasItsOwnFence() throws Exception {
		call(() -> {
			// through repositories and templates, with and without transactions
			order(1);
			audit();
			return transaction("transactionManager").execute((status) -> {
				order(2);
				return transaction("auditManager").execute((inner) -> audit());
			});
		});
		assertThat(stored()).containsExactly(2, 2);
		assertThat(events()).contains("admitted auditDataSource", "admitted dataSource").hasSize(2);
		// taken over at one storage only, and the refusal comes out of either unwrapped
		for (String name : List.of("auditJdbc", "jdbcTemplate")) {
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(() -> {
				order(name.equals("auditJdbc") ? 3 : 2);
				audit();
				elsewhere(() -> jdbc(name).update(RAISE));
				audit();
				order(4);
				return true;
			}))
				.satisfies((ex) -> assertThat(ex.getStorage())
					.isEqualTo(name.equals("auditJdbc") ? "auditDataSource" : "dataSource"));
		}
		assertThat(stored().get(0)).isEqualTo(2);
	}

	// a hold that finds a claim under way is the same retryable conflict everywhere
	@Test
	void case25WhenAClaimIsUnderWayThenJdbcAndJpaEndInTheSameRetryableConflict() throws Exception {
		for (String name : List.of("auditJdbc", "jdbcTemplate")) {
			for (boolean explicit : new boolean[] { false, true }) {
				String manager = name.equals("auditJdbc") ? "auditManager" : "transactionManager";
				Callable<?> write = () -> {
					if (name.equals("auditJdbc")) {
						return audit();
					}
					order(9);
					return true;
				};
				Locker locker = new Locker(jdbc(name).getDataSource());
				try {
					assertThatExceptionOfType(AdmissionTimeoutException.class).isThrownBy(() -> call(() -> {
						locker.lock();
						return explicit ? transaction(manager).execute((status) -> unchecked(write)) : write.call();
					})).satisfies((ex) -> {
						assertThat(ex.isRetryable()).isTrue();
						assertThat(ex.getCause()).isNull();
					}).withMessageContaining("within").withMessageContaining("keeps the fence locked");
				}
				finally {
					locker.close();
				}
			}
		}
		assertThat(stored()).containsExactly(0, 0);
	}

	@Test
	void case30WhenTheTransactionIsOnTheOtherDataSourceThenOwnHeldOneOrRefused() throws Exception {
		call(() -> transaction("transactionManager").execute((status) -> {
			audit();
			status.setRollbackOnly();
			return true;
		}));
		assertThat(stored()).containsExactly(0, 1);
		ConfigurableApplicationContext shared = context;
		try (ConfigurableApplicationContext reject = start(Application.class, "fencing.unfenced-writes=reject")) {
			context = reject;
			prepare(reject);
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> call(() -> transaction("transactionManager").execute((status) -> audit())))
				.withMessageContaining("'auditDataSource'");
			// reads and writes without any transaction are not concerned
			call(() -> transaction("transactionManager").execute((status) -> stored()));
			call(TwoStoragesTests::audit);
		}
		finally {
			context = shared;
		}
	}

	private static void prepare(ConfigurableApplicationContext fresh) {
		for (DataSource dataSource : fresh.getBeansOfType(DataSource.class).values()) {
			JdbcTemplate plain = new JdbcTemplate(dataSource);
			plain.execute("CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, amount INT NOT NULL)");
			plain.update("INSERT INTO orders VALUES ('1', 0)");
			plain.execute("CREATE TABLE audit (amount INT NOT NULL)");
		}
	}

	@Test
	void whenMethodLeavesTheTransactionsOfOneManagerThenThoseOfTheOtherAreStillJoined() throws Exception {
		FencedOperationRequest.Builder ofOrders = FencedOperationRequest.builder("order")
			.ownTransaction("transactionManager");
		EntityManager entityManager = SharedEntityManagerCreator
			.createSharedEntityManager(context.getBean(EntityManagerFactory.class));
		// its own: left, although the persistence context manages the entity
		transaction("transactionManager").executeWithoutResult((outer) -> {
			entityManager.find(Order.class, "1");
			unchecked(() -> call(ofOrders,
					() -> transaction("transactionManager", TransactionTemplate.PROPAGATION_REQUIRES_NEW)
						.execute((status) -> {
							order(5);
							return true;
						})));
			// the lease has ended with the call
			assertThat(FencingContext.current()).isNull();
		});
		assertThat(stored()).containsExactly(5, 0);
		// the other's: joined, so that the lease lives until it ends
		transaction("auditManager").executeWithoutResult((outer) -> {
			unchecked(() -> call(ofOrders, () -> {
				order(6);
				return audit();
			}));
			assertThat(FencingContext.current()).isNotNull();
			elsewhere(() -> assertThatExceptionOfType(LeaseNotAcquiredException.class)
				.isThrownBy(() -> call(FencedOperationRequest.builder("other").waitTime(Duration.ZERO), () -> true)));
		});
		assertThat(stored()).containsExactly(6, 1);
		// the other's, with an older snapshot: refused
		TransactionTemplate snapshot = transaction("auditManager");
		snapshot.setIsolationLevel(TransactionTemplate.ISOLATION_REPEATABLE_READ);
		snapshot.executeWithoutResult((outer) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> call(ofOrders, () -> true))
			.withMessageContaining("snapshot")
			.withMessageContaining("'auditDataSource'"));
	}

	@Test
	void whenTransactionsOnBothAreActiveAtEntryThenRefusedWithTheReason() {
		transaction("transactionManager").executeWithoutResult((outer) -> transaction("auditManager")
			.executeWithoutResult((inner) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> call(() -> true))
				.withMessageContaining("several DataSources")));
	}

	@Test
	void whenOneManagerBeginsTransactionsOnBothThenEachHolds() throws Exception {
		TransactionTemplate both = new TransactionTemplate(
				new BothTransactionManager(context.getBean("transactionManager", PlatformTransactionManager.class),
						context.getBean("auditManager", PlatformTransactionManager.class)));
		call(() -> both.execute((status) -> {
			order(3);
			return audit();
		}));
		assertThat(stored()).containsExactly(3, 1);
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(() -> {
			elsewhere(() -> jdbc("auditJdbc").update(RAISE));
			return both.execute((status) -> {
				order(4);
				return audit();
			});
		}));
		assertThat(stored()).containsExactly(3, 1);
	}

	@Test
	void whenTransactionManagerIsNoBeanThenWhatJpaFlushesIsTold() throws Exception {
		EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
		JpaTransactionManager foreign = new JpaTransactionManager(factory);
		foreign.afterPropertiesSet();
		EntityManager entityManager = SharedEntityManagerCreator.createSharedEntityManager(factory);
		call(() -> new TransactionTemplate(foreign).execute((status) -> {
			entityManager.find(Order.class, "1").amount = 7;
			return true;
		}));
		assertThat(events()).contains("unfenced dataSource");
		assertThat(stored()).containsExactly(7, 0);
		events().clear();
		call(() -> transaction("transactionManager").execute((status) -> {
			entityManager.find(Order.class, "1").amount = 8;
			return true;
		}));
		assertThat(events()).noneMatch((event) -> event.startsWith("unfenced"));
	}

	private static <T> T unchecked(Callable<T> work) {
		try {
			return work.call();
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void elsewhere(Runnable work) {
		CompletableFuture.runAsync(work).join();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
			JdbcTemplateAutoConfiguration.class, TransactionAutoConfiguration.class,
			HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class,
			FencingCoordinatorAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
			FencingAopAutoConfiguration.class, FencingAutoConfiguration.class })
	@EntityScan(basePackageClasses = TwoStoragesTests.class)
	@EnableJpaRepositories(considerNestedRepositories = true, basePackageClasses = TwoStoragesTests.class)
	static class Application {

		@Bean
		LeaseCoordinator leaseCoordinator() {
			InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
			// the fences remember tokens by the clock of the database
			coordinator.setWallClock(Duration.ofMillis(System.currentTimeMillis() - 1_700_000_000_000L));
			return coordinator;
		}

		@Bean
		Events events() {
			return new Events();
		}

		@Bean(defaultCandidate = false)
		HikariDataSource auditDataSource() {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(TestServers.newH2Url());
			pool.setMaximumPoolSize(4);
			return pool;
		}

		@Bean(defaultCandidate = false)
		JdbcTransactionManager auditManager(@Qualifier("auditDataSource") DataSource auditDataSource) {
			return new JdbcTransactionManager(auditDataSource);
		}

		@Bean(defaultCandidate = false)
		JdbcTemplate auditJdbc(@Qualifier("auditDataSource") DataSource auditDataSource) {
			return new JdbcTemplate(auditDataSource);
		}

	}

	/**
	 * Begins transactions of two managers and ends them in reverse.
	 */
	private static final class BothTransactionManager implements PlatformTransactionManager {

		private final PlatformTransactionManager first;

		private final PlatformTransactionManager second;

		BothTransactionManager(PlatformTransactionManager first, PlatformTransactionManager second) {
			this.first = first;
			this.second = second;
		}

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return new BothStatus(this.first.getTransaction(definition), this.second.getTransaction(definition));
		}

		@Override
		public void commit(TransactionStatus status) {
			this.second.commit(((BothStatus) status).second);
			this.first.commit(((BothStatus) status).first);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.second.rollback(((BothStatus) status).second);
			this.first.rollback(((BothStatus) status).first);
		}

	}

	/** Of both transactions. */
	private static final class BothStatus extends SimpleTransactionStatus {

		private final TransactionStatus first;

		private final TransactionStatus second;

		BothStatus(TransactionStatus first, TransactionStatus second) {
			this.first = first;
			this.second = second;
		}

	}

	/** A row. */
	@Entity
	@Table(name = "orders")
	static class Order {

		@Id
		String id;

		int amount;

	}

	/** The repository. */
	interface Orders extends CrudRepository<Order, String> {

	}

	/**
	 * Remembers what fences did.
	 */
	static class Events implements FencingListener {

		final List<String> texts = new CopyOnWriteArrayList<>();

		@Override
		public void onAdmitted(String operation, String storage, Duration took) {
			this.texts.add("admitted " + storage);
		}

		@Override
		public void onUnfenced(@Nullable String operation, @Nullable String storage) {
			this.texts.add("unfenced " + storage);
		}

	}

	/**
	 * A newer claim that has locked every fence and is not committed yet.
	 */
	private static final class Locker {

		private final Connection connection;

		Locker(DataSource dataSource) throws SQLException {
			this.connection = dataSource.getConnection();
		}

		void lock() throws SQLException {
			this.connection.setAutoCommit(false);
			this.connection.createStatement().executeQuery("SELECT * FROM fencing_fence FOR UPDATE");
		}

		void close() throws SQLException {
			this.connection.rollback();
			this.connection.setAutoCommit(true);
			this.connection.close();
		}

	}

}
