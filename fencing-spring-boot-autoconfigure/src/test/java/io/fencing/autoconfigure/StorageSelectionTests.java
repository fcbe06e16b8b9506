package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingListener;
import io.fencing.InvalidFencedOperationException;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.jta.JtaTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which beans become storages, by themselves, by name and by qualifier.
 */
@ExtendWith(OutputCaptureExtension.class)
class StorageSelectionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
				FencingJdbcAutoConfiguration.class, FencingAopAutoConfiguration.class, FencingAutoConfiguration.class))
		.withUserConfiguration(Coordinator.class);

	private final ApplicationContextRunner several = this.runner.withUserConfiguration(SeveralDataSources.class);

	private static List<String> storages(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		return context.getBean(JdbcFences.class).getFences().stream().map(JdbcFence::getStorage).toList();
	}

	private static void assertFailed(AssertableApplicationContext context, String... texts) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (!(failure instanceof InvalidFencedOperationException) && failure.getCause() != null) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(InvalidFencedOperationException.class).message().contains(texts);
	}

	// case 30, 96
	@Test
	void case30WhenThereAreSeveralDataSourcesThenThoseWithAManagerAreStoragesUnderTheirNames() {
		this.several.run((context) -> assertThat(storages(context)).containsExactlyInAnyOrder("orders", "audit"));
	}

	@ParameterizedTest
	@CsvSource({ "fencing.jdbc.storages=reporting, orders+audit+reporting", "fencing.jdbc.excluded-storages=audit, h2",
			"fencing.jdbc.excluded-storages=trail, h2", "'fencing.jdbc.excluded-storages=orders,audit,reporting', ''" })
	void whenStoragesAreNamedByBeanOrQualifierThenTheyAreAddedOrLeftOut(String property, String expected) {
		this.several.withPropertyValues(property)
			.run((context) -> assertThat(storages(context)).containsExactlyInAnyOrderElementsOf(
					Arrays.stream(expected.split("\\+")).filter((one) -> !one.isEmpty()).toList()));
	}

	@Test
	void whenNameIsUnknownAmbiguousOrInBothThenStartFailsNamingTheBeans() {
		for (String property : List.of("fencing.jdbc.storages=nowhere", "fencing.jdbc.excluded-storages=nowhere")) {
			this.several.withPropertyValues(property)
				.run((context) -> assertFailed(context, "'nowhere'", "[audit, orders, reporting]"));
		}
		this.several.withPropertyValues("fencing.jdbc.excluded-storages=side")
			.run((context) -> assertFailed(context, "'side'", "qualifier of several beans", "orders", "reporting"));
		this.several.withPropertyValues("fencing.jdbc.storages=audit", "fencing.jdbc.excluded-storages=trail")
			.run((context) -> assertFailed(context, "'audit'", "leave it in one of them"));
	}

	@Test
	void whenDataSourceOfAManagerIsNoBeanThenTheStorageHasTheNameOfTheManager() {
		this.several.withUserConfiguration(HiddenDataSource.class)
			.run((context) -> assertThat(storages(context)).containsExactlyInAnyOrder("orders", "audit",
					"hiddenManager"));
	}

	@Test
	void whenDataSourceRoutesThenEveryTargetHasItsTable() {
		this.runner.withUserConfiguration(Routing.class)
			.withPropertyValues("fencing.jdbc.initialize-schema=always")
			.run((context) -> {
				assertThat(storages(context)).hasSize(1);
				context.getBean(AbstractRoutingDataSource.class)
					.getResolvedDataSources()
					.values()
					.forEach((target) -> assertThat(new JdbcTemplate(target)
						.queryForObject("SELECT COUNT(*) FROM fencing_fence", Integer.class)).isZero());
			});
		this.runner.withUserConfiguration(Routing.class)
			.withPropertyValues("fencing.jdbc.initialize-schema=never")
			.run((context) -> assertFailed(context, "fencing_fence", "is missing"));
	}

	@Test
	void whenOperationWritesToADataSourceWithoutFenceThenToldCountedOrRefused(CapturedOutput output) {
		this.several.run((context) -> {
			writeReport(context);
			assertThat(context.getBean(Unfenced.class).operations).containsExactly("report@null");
			assertThat(output).contains("fencing.jdbc.excluded-storages");
		});
		this.several.withPropertyValues("fencing.unfenced-writes=reject")
			.run((context) -> assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> writeReport(context))
				.withMessageContaining("fencing.jdbc.storages"));
		this.several.withPropertyValues("fencing.jdbc.excluded-storages=reporting", "fencing.unfenced-writes=reject")
			.run((context) -> {
				writeReport(context);
				// the operation itself met no fence
				assertThat(context.getBean(Unfenced.class).operations).containsExactly("report@null");
				assertThat(context.getBean("reportingJdbc", JdbcTemplate.class)
					.queryForObject("SELECT COUNT(*) FROM report", Integer.class)).isOne();
			});
	}

	private static void writeReport(AssertableApplicationContext context) {
		JdbcTemplate reporting = context.getBean("reportingJdbc", JdbcTemplate.class);
		reporting.execute("CREATE TABLE report (id INT)");
		JdbcTemplate fenced = context.getBean("auditJdbc", JdbcTemplate.class);
		boolean excluded = context.getEnvironment().getProperty("fencing.jdbc.excluded-storages") != null;
		context.getBean(FencedOperations.class).call(FencedOperationRequest.of("report", "day:1"), () -> {
			if (!excluded) {
				fenced.queryForObject("SELECT 1", Integer.class);
			}
			assertThat(reporting.queryForObject("SELECT COUNT(*) FROM report", Integer.class)).isZero();
			return reporting.update("INSERT INTO report VALUES (1)");
		});
	}

	@Test
	void whenR2dbcIsPresentThenStartFailsWithTheReasonUnlessExcluded() {
		// with and without JDBC
		for (ApplicationContextRunner runner : List.of(this.runner, this.several)) {
			ApplicationContextRunner reactive = runner.withUserConfiguration(Reactive.class);
			reactive.run((context) -> assertFailed(context, "'reactiveConnections'", "R2DBC",
					"fencing.jdbc.excluded-storages"));
			reactive.withPropertyValues("fencing.jdbc.excluded-storages=reactiveConnections")
				.run((context) -> assertThat(context).hasNotFailed());
			reactive.withPropertyValues("fencing.mode=observe").run((context) -> assertThat(context).hasNotFailed());
			reactive.withPropertyValues("fencing.mode=off").run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void whenJtaIsPresentThenStartFailsWithTheReasonUnlessExcluded() {
		ApplicationContextRunner jta = this.several.withUserConfiguration(Jta.class);
		jta.run((context) -> assertFailed(context, "'jtaTransactions'", "JTA", "fencing.jdbc.excluded-storages"));
		jta.withPropertyValues("fencing.jdbc.excluded-storages=jtaTransactions")
			.run((context) -> assertThat(storages(context)).hasSize(2));
	}

	@Configuration(proxyBeanMethods = false)
	static class Coordinator {

		@Bean
		LeaseCoordinator leaseCoordinator() {
			InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
			// the fences remember tokens by the clock of the database
			coordinator.setWallClock(Duration.ofMillis(System.currentTimeMillis() - 1_700_000_000_000L));
			return coordinator;
		}

		@Bean
		Unfenced unfenced() {
			return new Unfenced();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SeveralDataSources {

		@Bean
		@Primary
		@Qualifier("side")
		DataSource orders() {
			return TestServers.newH2();
		}

		@Bean(defaultCandidate = false)
		@Qualifier("trail")
		DataSource audit() {
			return TestServers.newH2();
		}

		@Bean(autowireCandidate = false)
		@Qualifier("side")
		DataSource reporting() {
			return TestServers.newH2();
		}

		@Bean
		JdbcTransactionManager ordersManager(DataSource orders) {
			return new JdbcTransactionManager(orders);
		}

		@Bean
		JdbcTransactionManager auditManager(@Qualifier("trail") DataSource audit) {
			return new JdbcTransactionManager(audit);
		}

		@Bean
		JdbcTemplate auditJdbc(@Qualifier("trail") DataSource audit) {
			return new JdbcTemplate(audit);
		}

		@Bean
		JdbcTemplate reportingJdbc(BeanFactory beanFactory) {
			return new JdbcTemplate(beanFactory.getBean("reporting", DataSource.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenDataSource {

		@Bean
		JdbcTransactionManager hiddenManager() {
			return new JdbcTransactionManager(TestServers.newH2());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Routing {

		@Bean
		DataSource dataSource() {
			AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

				@Override
				protected @Nullable Object determineCurrentLookupKey() {
					return null;
				}

			};
			routing.setTargetDataSources(Map.of("one", TestServers.newH2(), "two", TestServers.newH2()));
			return routing;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Reactive {

		@Bean
		ConnectionFactory reactiveConnections() {
			return new ConnectionFactory() {

				@Override
				public Publisher<? extends Connection> create() {
					throw new UnsupportedOperationException();
				}

				@Override
				public ConnectionFactoryMetadata getMetadata() {
					return () -> "test";
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Jta {

		@Bean
		JtaTransactionManager jtaTransactions() {
			return new JtaTransactionManager() {

				@Override
				public void afterPropertiesSet() {
					// there is no server to look it up at
				}

			};
		}

	}

	/**
	 * Remembers what went by no fence.
	 */
	static class Unfenced implements FencingListener {

		final List<String> operations = new CopyOnWriteArrayList<>();

		@Override
		public void onUnfenced(@Nullable String operation, @Nullable String storage) {
			this.operations.add(operation + "@" + storage);
		}

	}

}
