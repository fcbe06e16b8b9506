package io.fencing.autoconfigure;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.fencing.FencedOperation;
import io.fencing.testing.TestServers;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Version;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.boot.autoconfigure.MybatisAutoConfiguration;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Operations with an identity on entities that have a version.
 */
class JournaledEntityTests {

	private static ConfigurableApplicationContext node;

	private static Accounts accounts;

	private static JdbcTemplate jdbc;

	private final String id = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		SpringApplication application = new SpringApplication(EntityApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application
			.setDefaultProperties(Map.of("spring.datasource.url", url, "spring.data.redis.url", TestServers.redisUrl(),
					"fencing.namespace", url, "fencing.jdbc.initialize-schema", "always", "spring.main.banner-mode",
					"off", "spring.flyway.enabled", "false", "spring.jpa.hibernate.ddl-auto", "create"));
		node = application.run();
		accounts = node.getBean(Accounts.class);
		jdbc = node.getBean(JdbcTemplate.class);
	}

	@AfterAll
	static void stop() {
		node.close();
	}

	// its version rises only when it is written
	@Test
	void whenEntityIsTheResultThenItsVersionIsTheSameInEveryAnswer() {
		open();
		Account first = accounts.change(this.id, "change" + this.id);
		Account again = accounts.change(this.id, "change" + this.id);
		assertThat(first.version).isOne();
		assertThat(again.version).isEqualTo(first.version);
	}

	// found out at the commit, and no unknown outcome
	@Test
	void whenEntityHasChangedMeanwhileThenConflictAndRepeatable() {
		open();
		assertThatExceptionOfType(OptimisticLockingFailureException.class)
			.isThrownBy(() -> accounts.changeLate(this.id, "late" + this.id, this::changeMeanwhile));
		assertThatExceptionOfType(OptimisticLockingFailureException.class)
			.isThrownBy(() -> accounts.look(this.id, "look" + this.id, this::changeMeanwhile));
		assertThat(jdbc.queryForList("SELECT state FROM fencing_operation WHERE identity LIKE ?", String.class,
				"____" + this.id))
			.containsExactly("FAILED", "FAILED");
	}

	// by somebody who knows nothing of the fence
	private void changeMeanwhile() {
		CompletableFuture
			.runAsync(() -> jdbc.update("UPDATE account_entity SET version = version + 1 WHERE id = ?", this.id))
			.join();
	}

	private void open() {
		jdbc.update("INSERT INTO account_entity (id, changes, version) VALUES (?, 0, 0)", this.id);
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DataJpaRepositoriesAutoConfiguration.class,
			DataJdbcRepositoriesAutoConfiguration.class, JooqAutoConfiguration.class, MybatisAutoConfiguration.class })
	static class EntityApplication {

		@Bean
		Accounts accounts(EntityManager entities) {
			return new Accounts(entities);
		}

	}

	static class Accounts {

		private final EntityManager entities;

		Accounts(EntityManager entities) {
			this.entities = entities;
		}

		@Transactional
		@FencedOperation(resource = "account:#{#id}", name = "change", operationId = "#{#request}")
		Account change(String id, String request) {
			Account account = this.entities.find(Account.class, id);
			account.changes++;
			return account;
		}

		@Transactional
		@FencedOperation(resource = "account:#{#id}", name = "late", operationId = "#{#request}", input = "#{#id}")
		void changeLate(String id, String request, Runnable also) {
			Account account = this.entities.find(Account.class, id);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					account.changes++;
				}

			});
			also.run();
		}

		@Transactional
		@FencedOperation(resource = "account:#{#id}", name = "look", operationId = "#{#request}", input = "#{#id}")
		int look(String id, String request, Runnable also) {
			int changes = this.entities.find(Account.class, id, LockModeType.OPTIMISTIC).changes;
			also.run();
			return changes;
		}

	}

	/**
	 * A row.
	 */
	@Entity(name = "account_entity")
	static class Account {

		@Id
		public String id;

		public int changes;

		@Version
		public long version;

	}

}
