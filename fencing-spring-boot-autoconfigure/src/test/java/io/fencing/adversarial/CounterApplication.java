package io.fencing.adversarial;

import javax.sql.DataSource;

import io.fencing.testing.GateDataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A small application that counts in PostgreSQL, run in JVMs of its own. It uses the
 * starter as any application does.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration")
class CounterApplication {

	/**
	 * Start it.
	 * @param arguments properties; at least those of the two servers
	 * @return the running context
	 */
	static ConfigurableApplicationContext run(String... arguments) {
		return new SpringApplicationBuilder(CounterApplication.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.properties("spring.flyway.enabled=false", "spring.data.jpa.repositories.enabled=false",
					"fencing.jdbc.initialize-schema=always")
			.run(arguments);
	}

	@Bean
	static BeanPostProcessor gateDataSourcePostProcessor() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof DataSource dataSource) ? new GateDataSource(dataSource) : bean;
			}

		};
	}

	@Bean
	Counter counter() {
		return new Counter();
	}

	@Bean
	LossCounter lossCounter() {
		return new LossCounter();
	}

	@Bean
	CounterStorage fencedStorage(DataSource dataSource, JdbcTemplate jdbc,
			PlatformTransactionManager transactionManager) {
		return new CounterStorage((GateDataSource) dataSource, jdbc, new TransactionTemplate(transactionManager));
	}

	@Bean
	CounterStorage undecoratedStorage(JdbcConnectionDetails details) {
		return CounterStorage.undecorated(new DriverManagerDataSource(details.getJdbcUrl()));
	}

}
