package io.fencing.autoconfigure;

import java.util.List;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.DatabaseDialects;
import io.fencing.testing.TestServers;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application may bring the dialect of its database, and choose one by name.
 */
class DatabaseDialectBeanTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class))
		.withPropertyValues("fencing.coordinator.url=" + TestServers.redisUrl(),
				"spring.datasource.url=" + TestServers.newH2Url());

	@Test
	void whenThereIsADialectBeanThenItIsUsed() {
		this.runner.withBean("own", DatabaseDialect.class, DatabaseDialectBeanTests::ownDialect)
			.run((context) -> assertThat(context.getBean(JdbcFences.class).getFences()).singleElement()
				.satisfies((fence) -> assertThat(fence.getStorage()).isEqualTo("own")));
	}

	@Test
	void whenDialectIsChosenByNameThenItIsUsed() {
		this.runner.withBean("own", DatabaseDialect.class, DatabaseDialectBeanTests::ownDialect)
			.withPropertyValues("fencing.jdbc.dialect=H2")
			.run((context) -> assertThat(context.getBean(JdbcFences.class).getFences()).singleElement()
				.satisfies((fence) -> assertThat(fence.getStorage()).isEqualTo("h2")));
	}

	@Test
	void whenNoDialectHasThatNameThenTheApplicationDoesNotStart() {
		this.runner.withPropertyValues("fencing.jdbc.dialect=oracle")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidFencedOperationException.class)
				.hasMessageContaining("'oracle'")
				.hasMessageContaining(DatabaseDialect.class.getName()));
	}

	private static DatabaseDialect ownDialect() {
		ProxyFactory factory = new ProxyFactory(DatabaseDialect.class,
				(MethodInterceptor) (call) -> call.getMethod().getName().equals("getName") ? "own" : call.proceed());
		factory.setTarget(DatabaseDialects.of(List.of()).choose("h2").getChosen());
		return (DatabaseDialect) factory.getProxy();
	}

}
