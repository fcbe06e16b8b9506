package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Boot's templates and the application's own, as beans.
 */
@ExtendWith(OutputCaptureExtension.class)
class TemplateBeansTests {

	private static final String UPDATE = "UPDATE account SET balance = 5 WHERE id = 'a'";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withUserConfiguration(FencingConfiguration.class);

	@Test
	void case38WhenBootMakesTheTemplatesThenTheyKeepTheirTypesAndAreFenced(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed().hasSingleBean(JdbcTemplate.class).hasSingleBean(JdbcClient.class);
			assertThat(AopUtils.getTargetClass(context.getBean(JdbcTemplate.class))).isEqualTo(JdbcTemplate.class);
			assertThat(context.getBean(JdbcTransactionManager.class).getClass())
				.isEqualTo(JdbcTransactionManager.class);
			assertStale(context, () -> context.getBean(JdbcTemplate.class).update(UPDATE));
			assertStale(context,
					() -> context.getBean(NamedParameterJdbcTemplate.class).getJdbcOperations().update(UPDATE));
			assertStale(context, () -> context.getBean(JdbcClient.class).sql(UPDATE).update());
			assertStale(context, () -> context.getBean(JdbcClient.class).sql(UPDATE).withMaxRows(3).update());
			assertStale(context,
					() -> new SimpleJdbcInsert(context.getBean(JdbcTemplate.class)).withTableName("account")
						.execute(java.util.Map.of("id", "c", "balance", 1)));
			assertThat(context.getBean(JdbcTemplate.class)
				.queryForObject("SELECT SUM(balance) FROM account", Integer.class)).isZero();
		});
		assertThat(output).doesNotContain("is not eligible for getting processed");
	}

	@Test
	void whenTemplatesAreMadeByHandThenTheyAreFenced() {
		this.runner.withUserConfiguration(HandMadeConfiguration.class).run((context) -> {
			assertThat(context).hasNotFailed();
			NamedParameterJdbcTemplate template = context.getBean(NamedParameterJdbcTemplate.class);
			assertThat(template.getCacheLimit()).isEqualTo(7);
			assertStale(context, () -> template.update(UPDATE, java.util.Map.of()));
			assertStale(context, () -> context.getBean(JdbcClient.class).sql(UPDATE).update());
			AuditingTemplate own = context.getBean(AuditingTemplate.class);
			assertThat(own).isInstanceOf(Advised.class);
			assertStale(context, own::audit);
			assertStale(context, () -> own.audit("Select customers, says the text of an argument"));
			assertThat(template.getJdbcOperations().queryForObject("SELECT SUM(balance) FROM account", Integer.class))
				.isZero();
		});
	}

	@Test
	void whenTemplateIsCalledInsideItselfThenItIsFencedOnce() {
		this.runner.run((context) -> {
			JdbcTemplate template = context.getBean(JdbcTemplate.class);
			FencedTemplatePostProcessor again = context.getBean(FencedTemplatePostProcessor.class);
			assertThat(FencedTemplateInterceptor.isPresent(template)).isTrue();
			assertThat(again.postProcessAfterInitialization(context.getBean(NamedParameterJdbcTemplate.class), "again"))
				.isSameAs(context.getBean(NamedParameterJdbcTemplate.class));
		});
	}

	@Test
	void whenWritesAreUnfencedThenEachPlaceIsToldOnce(CapturedOutput output) {
		FencedDatabase warn = FencedDatabase.create(TestServers.newH2(),
				FencedDatabase.settings(UnfencedWrites.WARN, JoinedTransactions.SAFE, Duration.ofSeconds(1)));
		for (int i = 0; i < 3; i++) {
			warn.jdbc.update("UPDATE account SET balance = ?", i);
		}
		assertThat(warn.unfenced).hasSize(3);
		assertThat(output).containsOnlyOnce("goes by no fence")
			.contains("TemplateBeansTests.whenWritesAreUnfencedThenEachPlaceIsToldOnce");
	}

	@Test
	void whenNoOperationHasRunThenNoFenceIsMade() {
		this.runner.run((context) -> {
			context.getBean(JdbcTemplate.class).update(UPDATE);
			new TransactionTemplate(context.getBean(JdbcTransactionManager.class))
				.executeWithoutResult((status) -> context.getBean(JdbcTemplate.class).update(UPDATE));
			assertThat(context.getBeanFactory().containsSingleton("jdbcFence")).isFalse();
		});
	}

	private static void assertStale(ApplicationContext context, Runnable write) {
		Operations operations = new Operations(context.getBean(JdbcFence.class));
		OperationContext stale = operations.enter(TestHeld.next("account:a"));
		Operations.elsewhere(() -> operations.enter(TestHeld.next("account:a")));
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> {
			try (OperationContext.Scope scope = stale.open()) {
				write.run();
			}
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class FencingConfiguration {

		@Bean
		DataSource dataSource() {
			return FencedDatabase.create(TestServers.newH2()).dataSource;
		}

		@Bean
		@Lazy
		JdbcFence jdbcFence(DataSource dataSource) {
			return new JdbcFence(null, dataSource, JdbcFenceSettings.defaults(), new FencingListeners(List.of()));
		}

		@Bean
		JdbcFences jdbcFences(ObjectProvider<JdbcFence> fences) {
			return new JdbcFences(JdbcFenceSettings.defaults(), new FencingListeners(List.of()),
					() -> fences.orderedStream().toList(), Set::of);
		}

		@Bean
		static HoldingTransactionPostProcessor holdingTransactionPostProcessor(ObjectProvider<JdbcFences> fences) {
			return new HoldingTransactionPostProcessor(fences::getObject);
		}

		@Bean
		static FencedTemplatePostProcessor fencedTemplatePostProcessor(ObjectProvider<JdbcFences> fences) {
			return new FencedTemplatePostProcessor(fences::getObject);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HandMadeConfiguration {

		@Bean
		NamedParameterJdbcTemplate namedParameterJdbcTemplate(DataSource dataSource) {
			NamedParameterJdbcTemplate template = new NamedParameterJdbcTemplate(dataSource);
			template.setCacheLimit(7);
			return template;
		}

		@Bean
		JdbcClient jdbcClient(DataSource dataSource) {
			return JdbcClient.create(dataSource);
		}

		@Bean
		AuditingTemplate auditingTemplate(DataSource dataSource) {
			return new AuditingTemplate(dataSource);
		}

	}

	/**
	 * A template of the application with a method of its own.
	 */
	static class AuditingTemplate extends JdbcTemplate {

		AuditingTemplate(DataSource dataSource) {
			super(dataSource);
		}

		void audit() {
			update(UPDATE);
		}

		void audit(String reason) {
			update(UPDATE + " AND ? IS NOT NULL", reason);
		}

	}

}
