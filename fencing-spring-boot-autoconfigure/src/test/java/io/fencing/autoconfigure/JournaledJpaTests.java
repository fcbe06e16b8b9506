package io.fencing.autoconfigure;

import java.net.URI;
import java.util.Map;
import java.util.UUID;

import io.fencing.FencedOperation;
import io.fencing.OutcomeUnknownException;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Operations with an identity whose work is written by JPA, when it commits.
 */
class JournaledJpaTests {

	private static TcpProxy proxy;

	private static ConfigurableApplicationContext node;

	private static Deposits deposits;

	private static JdbcTemplate jdbc;

	private final String id = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		int port = URI.create(url.substring("jdbc:".length())).getPort();
		proxy = TcpProxy.start("localhost", port);
		SpringApplication application = new SpringApplication(JpaApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("spring.datasource.url",
				url.replace("localhost:" + port, proxy.getHost() + ":" + proxy.getPort())
						+ (url.contains("?") ? "&" : "?") + "socketTimeout=2",
				"spring.data.redis.url", TestServers.redisUrl(), "fencing.namespace", url,
				"fencing.jdbc.initialize-schema", "always", "spring.main.banner-mode", "off", "spring.flyway.enabled",
				"false", "spring.jpa.hibernate.ddl-auto", "create"));
		node = application.run();
		deposits = node.getBean(Deposits.class);
		jdbc = node.getBean(JdbcTemplate.class);
	}

	@AfterAll
	static void stop() {
		node.close();
		proxy.close();
	}

	@Test
	void whenCalledAgainThenWrittenOnce() {
		assertThat(deposits.make(this.id, this.id, () -> {
		})).isEqualTo(deposits.make(this.id, this.id, () -> {
			throw new IllegalStateException("ran again");
		}));
		assertThat(count()).isOne();
	}

	// what is written at the commit fails before its record, and is no unknown outcome
	@Test
	void whenEntityCannotBeWrittenThenItsExceptionAndRepeatable() {
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(DataIntegrityViolationException.class)
				.isThrownBy(() -> deposits.make(this.id, null, () -> {
				}));
		}
		assertThat(jdbc.queryForMap("SELECT state, attempts FROM fencing_operation WHERE identity = ?", this.id))
			.containsEntry("state", "FAILED")
			.containsEntry("attempts", 2);
	}

	// case 20
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void case20WhenAnswerToCommitIsLostThenUnknownAndTheNextCallFindsOut(boolean forwarded) {
		Runnable lose = () -> TransactionSynchronizationManager
			.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCompletion() {
					if (forwarded) {
						proxy.swallowReplies();
					}
					else {
						proxy.swallow();
					}
				}

			});
		assertThatExceptionOfType(OutcomeUnknownException.class)
			.isThrownBy(() -> deposits.make(this.id, this.id, lose));
		proxy.pass();
		boolean[] ran = new boolean[1];
		deposits.make(this.id, this.id, () -> ran[0] = true);
		assertThat(ran[0]).isNotEqualTo(forwarded);
		assertThat(count()).isOne();
	}

	private int count() {
		return jdbc.queryForObject("SELECT COUNT(*) FROM deposit WHERE id = ?", Integer.class, this.id);
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DataJpaRepositoriesAutoConfiguration.class,
			DataJdbcRepositoriesAutoConfiguration.class, JooqAutoConfiguration.class, MybatisAutoConfiguration.class })
	static class JpaApplication {

		@Bean
		Deposits deposits(EntityManager entities) {
			return new Deposits(entities);
		}

	}

	static class Deposits {

		private final EntityManager entities;

		Deposits(EntityManager entities) {
			this.entities = entities;
		}

		@Transactional
		@FencedOperation(resource = "account:#{#request}", name = "deposit", operationId = "#{#request}",
				input = "#{#text}")
		String make(String request, String text, Runnable also) {
			Deposit deposit = new Deposit();
			deposit.id = request;
			deposit.text = text;
			this.entities.persist(deposit);
			also.run();
			return request;
		}

	}

	/**
	 * A row.
	 */
	@Entity(name = "deposit")
	static class Deposit {

		@Id
		private String id;

		@Column(nullable = false)
		private String text;

	}

}
