package io.fencing.adversarial;

import javax.sql.DataSource;

import io.fencing.testing.GateDataSource;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A ledger by way of beans, and one that is not fenced, in the storage that a property
 * names.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("ledger.storage")
class Ledgers {

	@Bean
	Accounts accounts() {
		return new Accounts();
	}

	/**
	 * In PostgreSQL.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = "ledger.storage", havingValue = "POSTGRES")
	static class Jdbc {

		@Bean
		JdbcLedger fencedLedger(DataSource dataSource, JdbcTemplate jdbc,
				PlatformTransactionManager transactionManager) {
			return new JdbcLedger((GateDataSource) dataSource, jdbc, new TransactionTemplate(transactionManager));
		}

		@Bean
		JdbcLedger undecoratedLedger(JdbcConnectionDetails details) {
			return JdbcLedger.undecorated(new DriverManagerDataSource(details.getJdbcUrl()));
		}

	}

	/**
	 * In the Redis that also grants the leases.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = "ledger.storage", havingValue = "REDIS")
	static class Redis {

		@Bean
		RedisLedger fencedLedger(LettuceConnectionFactory factory) {
			return new RedisLedger(factory);
		}

		@Bean
		RedisLedger undecoratedLedger(LettuceConnectionFactory factory) {
			return RedisLedger.undecorated(factory);
		}

	}

}
