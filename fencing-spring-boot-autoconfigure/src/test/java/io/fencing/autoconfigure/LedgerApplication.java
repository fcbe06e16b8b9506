package io.fencing.autoconfigure;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.testing.TestServers;
import org.mybatis.spring.boot.autoconfigure.MybatisAutoConfiguration;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * An ordinary application that drops the starter in: a ledger with annotated service
 * methods of every transaction shape.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class,
		DataJdbcRepositoriesAutoConfiguration.class, JooqAutoConfiguration.class, MybatisAutoConfiguration.class })
public class LedgerApplication {

	/**
	 * Start it against the test servers, on a database of its own.
	 */
	static ConfigurableApplicationContext start(String... properties) {
		return startOn(TestServers.newPostgresUrl(), properties);
	}

	/**
	 * Start it against the test servers, as one more node on the given database.
	 * @param url the JDBC URL, which is the namespace as well
	 * @param properties further properties
	 * @return the running context
	 */
	public static ConfigurableApplicationContext startOn(String url, String... properties) {
		SpringApplication application = new SpringApplication(LedgerApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application
			.setDefaultProperties(Map.of("spring.datasource.url", url, "spring.data.redis.url", TestServers.redisUrl(),
					"fencing.namespace", url, "fencing.jdbc.initialize-schema", "always", "spring.main.banner-mode",
					"off", "spring.datasource.hikari.maximum-pool-size", "16", "spring.flyway.enabled", "false"));
		String[] arguments = Arrays.stream(properties).map("--"::concat).toArray(String[]::new);
		return application.run(arguments);
	}

	@Bean
	Ledger ledger(JdbcTemplate jdbcTemplate) {
		return new Ledger(jdbcTemplate);
	}

	@Bean
	Caller caller(Ledger ledger, JdbcTemplate jdbcTemplate) {
		return new Caller(ledger, jdbcTemplate);
	}

	/**
	 * Fenced operations on accounts.
	 */
	public static class Ledger {

		private final JdbcTemplate jdbcTemplate;

		Ledger(JdbcTemplate jdbcTemplate) {
			this.jdbcTemplate = jdbcTemplate;
		}

		/**
		 * Create the table.
		 */
		public void createTable() {
			this.jdbcTemplate
				.execute("CREATE TABLE IF NOT EXISTS account (id VARCHAR(200) PRIMARY KEY, balance BIGINT NOT NULL)");
		}

		/**
		 * Open an account.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "open")
		@Transactional
		public void open(String id) {
			this.jdbcTemplate.update("INSERT INTO account VALUES (?, 0)", id);
		}

		/**
		 * Read, add, write an absolute value.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "add")
		@Transactional
		public FencingToken add(String id, long amount) {
			write(id, read(id) + amount);
			return FencingContext.required().getToken();
		}

		/**
		 * Read, run the callback, write an absolute value.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "addSlowly")
		@Transactional
		public FencingToken addSlowly(String id, long amount, Callable<?> between) throws Exception {
			long balance = read(id);
			between.call();
			write(id, balance + amount);
			return FencingContext.required().getToken();
		}

		/**
		 * Read in no transaction, run the callback, write in no transaction.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "addWithoutTransaction")
		public void addWithoutTransaction(String id, long amount, Callable<?> between) throws Exception {
			long balance = read(id);
			between.call();
			write(id, balance + amount);
		}

		/**
		 * As {@link #add}, in a transaction of its own.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "addInNewTransaction")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void addInNewTransaction(String id, long amount) {
			write(id, read(id) + amount);
		}

		/**
		 * Read in a read-only transaction.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "readOnly")
		@Transactional(readOnly = true)
		public long readOnly(String id) {
			return read(id);
		}

		/**
		 * Run a task under a lease with a short life.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "shortLease", leaseTime = "300ms", renew = false,
				waitTime = "3s")
		public void withShortLease(String id, Callable<?> body) throws Exception {
			body.call();
		}

		/**
		 * Move money between two accounts.
		 */
		@FencedOperation(resource = { "account:#{#from}", "account:#{#to}" }, name = "transfer")
		@Transactional
		public void transfer(String from, String to, long amount) {
			write(from, read(from) - amount);
			write(to, read(to) + amount);
		}

		/**
		 * Swallow everything.
		 */
		@FencedOperation(resource = "account:#{#id}", name = "swallow")
		public String swallow(String id, Callable<?> body) {
			try {
				body.call();
			}
			catch (Exception ex) {
				return "swallowed";
			}
			return "done";
		}

		/**
		 * The balance, read outside of any operation.
		 */
		public long read(String id) {
			Long balance = this.jdbcTemplate.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, id);
			return (balance != null) ? balance : 0;
		}

		/**
		 * Write the balance.
		 */
		public void write(String id, long balance) {
			this.jdbcTemplate.update("UPDATE account SET balance = ? WHERE id = ?", balance, id);
		}

	}

	/**
	 * Calls fenced operations inside transactions of its own.
	 */
	public static class Caller {

		private final Ledger ledger;

		private final JdbcTemplate jdbcTemplate;

		Caller(Ledger ledger, JdbcTemplate jdbcTemplate) {
			this.ledger = ledger;
			this.jdbcTemplate = jdbcTemplate;
		}

		/**
		 * Call a fenced operation several times in one transaction.
		 */
		@Transactional
		public void addOften(String id, int times, Callable<?> beforeReturn) throws Exception {
			for (int i = 0; i < times; i++) {
				this.ledger.add(id, 1);
			}
			beforeReturn.call();
		}

		/**
		 * Call a fenced operation on each of several resources in one transaction.
		 */
		@Transactional
		public void addToEach(String... ids) {
			for (String id : ids) {
				this.ledger.add(id, 1);
			}
		}

		/**
		 * Call a fenced operation with a transaction of its own.
		 */
		@Transactional
		public void addInNewTransaction(String id) {
			this.jdbcTemplate.queryForObject("SELECT count(*) FROM account", Long.class);
			this.ledger.addInNewTransaction(id, 1);
		}

		/**
		 * Call a fenced operation in a transaction with an older snapshot.
		 */
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void addInOldSnapshot(String id) {
			this.jdbcTemplate.queryForObject("SELECT count(*) FROM account", Long.class);
			this.ledger.add(id, 1);
		}

	}

}
