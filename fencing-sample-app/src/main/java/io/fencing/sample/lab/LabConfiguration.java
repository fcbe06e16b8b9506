package io.fencing.sample.lab;

import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import io.fencing.sample.servers.ConditionalOnOwnServers;
import io.lettuce.core.AbstractRedisClient;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The lab. It tampers with the data source and the Redis client, so it exists only on
 * servers that belong to this application and end with it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnOwnServers
class LabConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static PausingCommands pausingCommands() {
		return new PausingCommands();
	}

	@Bean
	static BeanPostProcessor labPostProcessor(PausingCommands commands) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				if (bean instanceof LettuceConnectionFactory factory) {
					listen(factory, commands);
				}
				return (bean instanceof DataSource dataSource) ? new PausingDataSource(dataSource) : bean;
			}

		};
	}

	private static void listen(LettuceConnectionFactory factory, PausingCommands commands) {
		((AbstractRedisClient) factory.getRequiredNativeClient()).addListener(commands);
	}

	@Bean
	LabWorker labWorker() {
		return new LabWorker();
	}

	@Bean
	LabStorage postgresql(DataSource dataSource, JdbcTemplate jdbc, PlatformTransactionManager transactionManager,
			JdbcConnectionDetails details) throws SQLException {
		JdbcAccounts fenced = new JdbcAccounts(dataSource.unwrap(PausingDataSource.class), jdbc,
				new TransactionTemplate(transactionManager));
		DataSource raw = new DriverManagerDataSource(details.getJdbcUrl(), details.getUsername(),
				details.getPassword());
		return new LabStorage(fenced, JdbcAccounts.undecorated(raw));
	}

	@Bean
	LabStorage redis(LettuceConnectionFactory factory, PausingCommands commands) {
		LettuceConnectionFactory raw = new LettuceConnectionFactory(factory.getStandaloneConfiguration(),
				factory.getClientConfiguration());
		raw.afterPropertiesSet();
		listen(raw, commands);
		return new LabStorage(new RedisAccounts(commands, factory), new RedisAccounts(commands, raw), raw::destroy);
	}

	@Bean
	StaleWriteLab staleWriteLab(LabWorker worker, Map<String, LabStorage> storages) {
		return new StaleWriteLab(worker, storages);
	}

}
