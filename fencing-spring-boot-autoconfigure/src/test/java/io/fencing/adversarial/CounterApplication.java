package io.fencing.adversarial;

import javax.sql.DataSource;

import io.fencing.testing.GateDataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A small application that counts in PostgreSQL and in Redis, run in JVMs of its own. It
 * uses the starter as any application does.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import({ RedisCounters.class, Ledgers.class })
@EnableAutoConfiguration(
		excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
				"org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration",
				"org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration",
				"org.mybatis.spring.boot.autoconfigure.MybatisAutoConfiguration" })
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
	@ConditionalOnProperty("spring.datasource.url")
	JdbcCounterStorage fencedStorage(DataSource dataSource, JdbcTemplate jdbc,
			PlatformTransactionManager transactionManager) {
		return new JdbcCounterStorage((GateDataSource) dataSource, jdbc, new TransactionTemplate(transactionManager));
	}

	@Bean
	@ConditionalOnProperty("spring.datasource.url")
	JdbcCounterStorage undecoratedStorage(JdbcConnectionDetails details) {
		return JdbcCounterStorage.undecorated(new DriverManagerDataSource(details.getJdbcUrl()));
	}

}
