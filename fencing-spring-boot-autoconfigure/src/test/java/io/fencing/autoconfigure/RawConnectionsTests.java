package io.fencing.autoconfigure;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencingListener;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.jdbc.FencedTemplatePostProcessor;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import org.h2.jdbc.JdbcConnection;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourcePoolMetadataProvidersConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Writes past templates and transaction managers that are beans: never silent.
 */
@ExtendWith(OutputCaptureExtension.class)
class RawConnectionsTests {

	private static final String READ = "SELECT balance FROM account";

	private static final String WRITE = "UPDATE account SET balance = balance + 1";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
				FencingJdbcAutoConfiguration.class, FencingAopAutoConfiguration.class, FencingAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("fencing.jdbc.initialize-schema=always", "spring.datasource.hikari.maximum-pool-size=5");

	private static String url(String product) {
		return "spring.datasource.url="
				+ (product.equals("h2") ? TestServers.newH2Url() : TestServers.newPostgresUrl());
	}

	private static Map<String, FencedBody<Object, Exception>> bypasses(AssertableApplicationContext context,
			String sql) {
		DataSource dataSource = context.getBean(DataSource.class);
		JdbcTemplate byHand = new JdbcTemplate(dataSource);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		Map<String, FencedBody<Object, Exception>> bypasses = new LinkedHashMap<>();
		bypasses.put("template by hand", () -> {
			byHand.execute(sql);
			return true;
		});
		bypasses.put("prepared", () -> {
			try (Connection connection = dataSource.getConnection();
					PreparedStatement statement = connection.prepareStatement(sql)) {
				return statement.execute();
			}
		});
		bypasses.put("plain", () -> {
			try (Connection connection = dataSource.getConnection();
					Statement statement = connection.createStatement()) {
				return statement.execute(sql);
			}
		});
		bypasses.put("utils", () -> {
			Connection connection = DataSourceUtils.getConnection(dataSource);
			try (Statement statement = connection.createStatement()) {
				return statement.execute(sql);
			}
			finally {
				DataSourceUtils.releaseConnection(connection, dataSource);
			}
		});
		bypasses.put("manager by hand",
				() -> new TransactionTemplate(new JdbcTransactionManager(dataSource)).execute((status) -> {
					byHand.execute(sql);
					return true;
				}));
		bypasses.put("second connection", () -> {
			try (Connection connection = dataSource.getConnection();
					Statement statement = connection.createStatement()) {
				transaction.executeWithoutResult((status) -> byHand.execute(READ));
				return statement.execute(sql);
			}
		});
		bypasses.put("transaction of the operation around it", () -> transaction
			.execute((status) -> unchecked(() -> context.getBean(FencedOperations.class)
				.call(FencedOperationRequest.builder("add").resource("account:2").ownTransaction(true).build(), () -> {
					byHand.execute(sql);
					return true;
				}))));
		bypasses.put("after the commit", () -> {
			transaction.executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						byHand.execute(sql);
					}

				}));
			return true;
		});
		return bypasses;
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

	private static <T extends @Nullable Object> T call(AssertableApplicationContext context,
			FencedBody<T, Exception> body) throws Exception {
		context.getBean(Events.class).texts.clear();
		return context.getBean(FencedOperations.class).call(FencedOperationRequest.of("add", "account:1"), body);
	}

	private static int prepare(AssertableApplicationContext context) {
		JdbcTemplate template = context.getBean(JdbcTemplate.class);
		template.execute("DROP TABLE IF EXISTS account");
		template.execute("CREATE TABLE account (balance INT NOT NULL)");
		return template.update("INSERT INTO account VALUES (0)");
	}

	private static int balance(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForObject(READ, Integer.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "h2", "postgresql" })
	void whenWriteBypassesTheFenceThenItIsToldCountedOrRefusedAndReadsPass(String product, CapturedOutput output) {
		this.runner.withPropertyValues(url(product)).run((context) -> {
			List<String> unfenced = context.getBean(Events.class).texts;
			for (String name : bypasses(context, WRITE).keySet()) {
				prepare(context);
				call(context, bypasses(context, WRITE).get(name));
				assertThat(unfenced).as(name).contains("unfenced add " + product);
				call(context, () -> {
					context.getBean(JdbcTemplate.class).queryForList(READ);
					return bypasses(context, READ).get(name).run();
				});
				assertThat(unfenced).as(name).isEmpty();
			}
			assertThat(output).contains("on a connection that does not hold")
				.contains(RawConnectionsTests.class.getName());
		});
		this.runner.withPropertyValues(url(product), "fencing.unfenced-writes=reject").run((context) -> {
			for (Map.Entry<String, FencedBody<Object, Exception>> bypass : bypasses(context, WRITE).entrySet()) {
				new JdbcTemplate(context.getBean(DataSource.class)).execute("DROP TABLE IF EXISTS account");
				new JdbcTemplate(context.getBean(DataSource.class))
					.execute("CREATE TABLE account (balance INT NOT NULL)");
				new JdbcTemplate(context.getBean(DataSource.class)).execute("INSERT INTO account VALUES (0)");
				assertThatExceptionOfType(UnfencedWriteException.class).as(bypass.getKey())
					.isThrownBy(() -> call(context, bypass.getValue()));
				assertThat(balance(context)).as(bypass.getKey()).isZero();
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "h2", "postgresql" })
	void whenTransactionOrTemplateHoldsThenNothingIsTold(String product) {
		this.runner.withPropertyValues(url(product)).run((context) -> {
			prepare(context);
			JdbcTemplate byHand = new JdbcTemplate(context.getBean(DataSource.class));
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			call(context, () -> {
				context.getBean(JdbcTemplate.class).update(WRITE);
				transaction.executeWithoutResult((status) -> {
					byHand.update(WRITE);
					byHand.execute((Connection connection) -> connection.createStatement().executeUpdate(WRITE));
				});
				return context.getBean(FencedOperations.class)
					.call(FencedOperationRequest.of("inner", "account:2"),
							() -> transaction.execute((status) -> byHand.update(WRITE)));
			});
			assertThat(context.getBean(Events.class).texts).isEmpty();
			assertThat(balance(context)).isEqualTo(4);
			// outside of operations there is nothing to see
			byHand.update(WRITE);
			assertThat(context.getBean(Events.class).texts).isEmpty();
		});
	}

	@Test
	void whenConnectionsAreLazyThenTheOneThatHoldsIsRecognised() {
		this.runner.withUserConfiguration(LazyDataSource.class).run((context) -> {
			prepare(context);
			DataSource target = context.getBean("target", DataSource.class);
			JdbcTemplate byHand = new JdbcTemplate(context.getBean("lazy", DataSource.class));
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			call(context, () -> {
				context.getBean(JdbcTemplate.class).update(WRITE);
				return transaction.execute((status) -> byHand.update(WRITE));
			});
			assertThat(context.getBean(Events.class).texts).isEmpty();
			call(context, () -> transaction.execute((status) -> new JdbcTemplate(target).queryForList(READ)));
			assertThat(context.getBean(Events.class).texts).isEmpty();
			for (DataSource dataSource : context.getBeansOfType(DataSource.class).values()) {
				call(context, () -> new JdbcTemplate(dataSource).update(WRITE));
				assertThat(context.getBean(Events.class).texts).containsExactly("unfenced add h2");
			}
		});
	}

	// case 38: the bean keeps its type
	@Test
	void case38WhenDataSourceIsAPoolThenItStaysOne() {
		this.runner.withPropertyValues(url("h2"), "spring.datasource.hikari.pool-name=kept").run((context) -> {
			HikariDataSource pool = context.getBean(HikariDataSource.class);
			assertThat(pool.getPoolName()).isEqualTo("kept");
			assertThat(pool.isWrapperFor(HikariDataSource.class)).isTrue();
			try (Connection connection = pool.getConnection()) {
				assertThat(connection.isWrapperFor(JdbcConnection.class)).isTrue();
			}
			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isPositive();
			call(context, () -> {
				try (Connection connection = pool.getConnection()) {
					assertThat(connection.unwrap(JdbcConnection.class)).isNotNull();
					assertThat(connection).isEqualTo(connection).isNotEqualTo(null);
				}
				return true;
			});
		});
	}

	@Test
	void whenRowOfUnfencedDataSourceIsWrittenPastTheFenceThenItIsTold() {
		this.runner.withPropertyValues(url("h2")).run((context) -> {
			prepare(context);
			JdbcTemplate replica = (JdbcTemplate) new FencedTemplatePostProcessor(
					() -> context.getBean(JdbcFences.class))
				.postProcessAfterInitialization(new JdbcTemplate(TestServers.newH2()), "replica");
			JdbcTemplate byHand = new JdbcTemplate(context.getBean(DataSource.class));
			call(context, () -> {
				replica.query("SELECT 1", (RowCallbackHandler) (row) -> byHand.update(WRITE));
				return true;
			});
			assertThat(context.getBean(Events.class).texts).containsExactly("unfenced add h2");
		});
	}

	@Test
	void case38WhenPoolIsMeasuredThenItsMetadataIsThatOfThePool() {
		this.runner.withConfiguration(AutoConfigurations.of(DataSourcePoolMetadataProvidersConfiguration.class))
			.withPropertyValues(url("h2"))
			.run((context) -> {
				prepare(context);
				assertThat(context.getBean(DataSourcePoolMetadataProvider.class)
					.getDataSourcePoolMetadata(context.getBean(DataSource.class))
					.getActive()).isNotNull();
			});
	}

	@Test
	void whenClassCannotBeExtendedThenItsInterfacesAreOrItIsTold(CapturedOutput output) {
		this.runner.withUserConfiguration(Embedded.class).run((context) -> {
			prepare(context);
			assertThat(context.getBean(EmbeddedDatabase.class)).isSameAs(context.getBean(DataSource.class));
			call(context, () -> new JdbcTemplate(context.getBean(DataSource.class)).update(WRITE));
			assertThat(context.getBean(Events.class).texts).containsExactly("unfenced add h2");
		});
		assertThat(output).doesNotContain("cannot be extended");
		this.runner.withUserConfiguration(Final.class).run((context) -> {
			prepare(context);
			call(context, () -> context.getBean(JdbcTemplate.class).update(WRITE));
			assertThat(context.getBean(FinalDataSource.class)).isNotNull();
		});
		assertThat(output).contains("cannot be extended");
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
		Events events() {
			return new Events();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyDataSource {

		@Bean(defaultCandidate = false)
		DataSource target() {
			return new DriverManagerDataSource(TestServers.newH2Url());
		}

		@Bean
		LazyConnectionDataSourceProxy lazy(@Qualifier("target") DataSource target) {
			return new LazyConnectionDataSourceProxy(target);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Embedded {

		@Bean
		EmbeddedDatabase embedded() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Final {

		@Bean
		FinalDataSource dataSource() {
			return new FinalDataSource();
		}

	}

	/**
	 * Can be asked for by its class, and not be extended.
	 */
	public static final class FinalDataSource extends DelegatingDataSource {

		FinalDataSource() {
			super(TestServers.newH2());
		}

	}

	/**
	 * Remembers what went by no fence.
	 */
	static class Events implements FencingListener {

		final List<String> texts = new CopyOnWriteArrayList<>();

		@Override
		public void onUnfenced(@Nullable String operation, @Nullable String storage) {
			if (storage != null) {
				this.texts.add("unfenced " + operation + " " + storage);
			}
		}

	}

}
