package io.fencing.sample.lab;

import java.sql.SQLException;

import javax.sql.DataSource;

import io.fencing.sample.servers.ConditionalOnOwnServers;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The lab. It tampers with the data source, so it exists only on servers that belong to
 * this application and end with it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnOwnServers
class LabConfiguration {

	@Bean
	static BeanPostProcessor pausingDataSourcePostProcessor() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof DataSource dataSource) ? new PausingDataSource(dataSource) : bean;
			}

		};
	}

	@Bean
	LabWorker labWorker() {
		return new LabWorker();
	}

	@Bean
	StaleWriteLab staleWriteLab(LabWorker worker, DataSource dataSource, JdbcTemplate jdbc,
			PlatformTransactionManager transactionManager, JdbcConnectionDetails details) throws SQLException {
		LabAccounts fenced = new LabAccounts(dataSource.unwrap(PausingDataSource.class), jdbc,
				new TransactionTemplate(transactionManager));
		DataSource raw = new DriverManagerDataSource(details.getJdbcUrl(), details.getUsername(),
				details.getPassword());
		return new StaleWriteLab(worker, fenced, LabAccounts.undecorated(raw));
	}

}
