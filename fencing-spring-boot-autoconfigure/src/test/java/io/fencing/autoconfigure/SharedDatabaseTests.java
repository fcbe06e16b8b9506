package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.StaleTokenException;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two DataSources that lead to one database: to the same fence table, or to one in each
 * of two schemas.
 */
class SharedDatabaseTests {

	static Stream<Target> targets() {
		String postgres = TestServers.newPostgresUrl();
		String schemas = TestServers.newPostgresUrl();
		JdbcTemplate admin = new JdbcTemplate(new DriverManagerDataSource(schemas));
		admin.execute("CREATE SCHEMA one");
		admin.execute("CREATE SCHEMA two");
		String h2 = TestServers.newH2Url();
		String h2Schemas = TestServers.newH2Url() + ";INIT=CREATE SCHEMA IF NOT EXISTS %1$s\\;SET SCHEMA %1$s";
		return Stream.of(new Target(postgres, postgres, true, true),
				new Target(schemas + "&currentSchema=one", schemas + "&currentSchema=two", false, true),
				new Target(h2, h2, true, false),
				new Target(h2Schemas.formatted("one"), h2Schemas.formatted("two"), false, true));
	}

	@ParameterizedTest
	@MethodSource("targets")
	void whenTwoStoragesAreInOneDatabaseThenBothAreFenced(Target target) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(FencingCoordinatorAutoConfiguration.class,
					FencingJdbcAutoConfiguration.class, FencingAutoConfiguration.class))
			.withUserConfiguration(Application.class)
			.withPropertyValues("first.url=" + target.first, "second.url=" + target.second,
					"fencing.jdbc.initialize-schema=always", "fencing.jdbc.admission-timeout=200ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(JdbcFences.class).getFences()).hasSize(2);
				context.getBean("firstJdbc", JdbcTemplate.class)
					.execute("CREATE TABLE IF NOT EXISTS entry (amount INT)");
				context.getBean("secondJdbc", JdbcTemplate.class)
					.execute("CREATE TABLE IF NOT EXISTS entry (amount INT)");
				call(context, () -> insert(context, "first") + insert(context, "second"));
				assertNested(context, target);
				for (String raised : new String[] { "first", "second" }) {
					assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> call(context, () -> {
						boolean first = raised.equals("first");
						raise(first ? target.first : target.second);
						// in one table each fence is that of both
						return insert(context, (first == target.sameTable) ? "second" : "first");
					}));
				}
			});
	}

	private static void assertNested(AssertableApplicationContext context, Target target) throws Exception {
		Callable<?> nested = () -> transaction(context, "first").execute((outer) -> insert(context, "second"));
		if (target.nests) {
			call(context, nested);
			return;
		}
		// H2 has no shared locks, and the two transactions know nothing of each other
		assertThatExceptionOfType(AdmissionTimeoutException.class).isThrownBy(() -> call(context, nested))
			.withMessageContaining("'second'");
	}

	private static <T> T call(AssertableApplicationContext context, Callable<T> body) throws Exception {
		return context.getBean(FencedOperations.class).call(FencedOperationRequest.of("enter", "entry:1"), body::call);
	}

	private static TransactionTemplate transaction(AssertableApplicationContext context, String storage) {
		return new TransactionTemplate(context.getBean(storage + "Manager", PlatformTransactionManager.class));
	}

	private static int insert(AssertableApplicationContext context, String storage) {
		JdbcTemplate template = context.getBean(storage + "Jdbc", JdbcTemplate.class);
		return transaction(context, storage).execute((status) -> template.update("INSERT INTO entry VALUES (1)"));
	}

	private static void raise(String url) {
		new JdbcTemplate(new DriverManagerDataSource(url)).update("UPDATE fencing_fence SET token = token + 1");
	}

	/**
	 * A pair of storages.
	 *
	 * @param first the URL of one
	 * @param second the URL of the other
	 * @param sameTable whether they share one fence table
	 * @param nests whether a transaction on one can hold inside a transaction on the
	 * other
	 */
	record Target(String first, String second, boolean sameTable, boolean nests) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		LeaseCoordinator leaseCoordinator() {
			InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
			// the fences remember tokens by the clock of the database
			coordinator.setWallClock(Duration.ofMillis(System.currentTimeMillis() - 1_700_000_000_000L));
			return coordinator;
		}

		@Bean
		HikariDataSource first(@Value("${first.url}") String url) {
			return pool(url);
		}

		@Bean
		HikariDataSource second(@Value("${second.url}") String url) {
			return pool(url);
		}

		private static HikariDataSource pool(String url) {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(url);
			pool.setMaximumPoolSize(3);
			return pool;
		}

		@Bean
		JdbcTransactionManager firstManager(@Qualifier("first") DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTransactionManager secondManager(@Qualifier("second") DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTemplate firstJdbc(@Qualifier("first") DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

		@Bean
		JdbcTemplate secondJdbc(@Qualifier("second") DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

	}

}
