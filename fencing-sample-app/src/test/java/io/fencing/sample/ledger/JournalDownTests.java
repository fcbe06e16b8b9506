package io.fencing.sample.ledger;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The database, and the journal with it, gives no connection.
 */
@SampleTest
class JournalDownTests {

	@LocalServerPort
	private int port;

	@Autowired
	private DataSource dataSource;

	@Autowired
	private MeterRegistry meters;

	@Test
	void whenDatabaseGivesNoConnectionThenUnavailableAfterOneWaitForIt() throws SQLException {
		HikariDataSource pool = this.dataSource.unwrap(HikariDataSource.class);
		List<Connection> all = new ArrayList<>();
		try {
			while (all.size() < pool.getMaximumPoolSize()) {
				all.add(pool.getConnection());
			}
			double before = timeouts();
			new Http(this.port).postJson("{\"amount\": 1.00}", "/accounts/journal-down/deposits")
				.expectStatus()
				.isEqualTo(503)
				.expectHeader()
				.exists("Retry-After")
				.expectBody()
				.jsonPath("$.type")
				.isEqualTo("urn:fencing:problem:journal-unavailable");
			assertThat(timeouts() - before).isOne();
		}
		finally {
			for (Connection connection : all) {
				connection.close();
			}
		}
	}

	private double timeouts() {
		return this.meters.get("hikaricp.connections.timeout").counter().count();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class ImpatientPool {

		// no property: that of a data source would say that one is given
		@Bean
		static BeanPostProcessor impatientPoolPostProcessor() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessBeforeInitialization(Object bean, String beanName) {
					if (bean instanceof HikariDataSource pool) {
						pool.setConnectionTimeout(2000);
					}
					return bean;
				}

			};
		}

	}

}
