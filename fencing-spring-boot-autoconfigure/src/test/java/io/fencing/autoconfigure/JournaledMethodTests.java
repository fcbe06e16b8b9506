package io.fencing.autoconfigure;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.OperationConflictException;
import io.fencing.OperationDecision;
import io.fencing.OutcomeUnknownException;
import io.fencing.UndecidedOperation;
import io.fencing.UndecidedOperations;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Annotated methods with an identity, on PostgreSQL behind a proxy that can lose answers.
 */
class JournaledMethodTests {

	private static TcpProxy proxy;

	private static ConfigurableApplicationContext node;

	private static Accounts accounts;

	private final String id = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		int port = URI.create(url.substring("jdbc:".length())).getPort();
		proxy = TcpProxy.start("localhost", port);
		node = start(url.replace("localhost:" + port, proxy.getHost() + ":" + proxy.getPort())
				+ (url.contains("?") ? "&" : "?") + "socketTimeout=2", Accounts.class);
		accounts = node.getBean(Accounts.class);
		node.getBean(JdbcTemplate.class).execute("CREATE TABLE account (id VARCHAR(200), balance NUMERIC)");
	}

	@AfterAll
	static void stop() {
		node.close();
		proxy.close();
	}

	private static ConfigurableApplicationContext start(String url, Class<?> beans) {
		SpringApplication application = new SpringApplication(LedgerApplication.class, beans);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("spring.datasource.url", url, "spring.data.redis.url",
				TestServers.redisUrl(), "fencing.namespace", url, "fencing.jdbc.initialize-schema", "always",
				"spring.main.banner-mode", "off", "spring.flyway.enabled", "false"));
		return application.run();
	}

	@Test
	void whenMethodIsCalledAgainThenAnsweredWithoutRunning() {
		accounts.open(this.id);
		BigDecimal first = accounts.withdraw(this.id, "request" + this.id, new BigDecimal("1.50"), () -> {
		});
		assertThat(accounts.withdraw(this.id, "request" + this.id, new BigDecimal("1.50"), () -> {
			throw new IllegalStateException("ran again");
		})).isEqualTo(first).isEqualTo("98.50");
		assertThatExceptionOfType(OperationConflictException.class)
			.isThrownBy(() -> accounts.withdraw(this.id, "request" + this.id, BigDecimal.ONE, () -> {
			}));
		assertThat(accounts.balance(this.id)).isEqualTo("98.50");
	}

	// case 93
	@Test
	void case93WhenMethodSetsRollbackOnlyThenItsValueAndNothingElse() {
		accounts.open(this.id);
		Runnable rollback = () -> TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
		assertThat(accounts.withdraw(this.id, this.id, BigDecimal.ONE, rollback)).isEqualTo("99");
		assertThat(accounts.balance(this.id)).isEqualTo("100");
		accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
		});
		assertThat(accounts.balance(this.id)).isEqualTo("99");
	}

	// case 81
	@Test
	void case81WhenExceptionDoesNotRollBackThenFinalAndAnsweredAgain() {
		accounts.open(this.id);
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> accounts.withdrawAndFail(this.id, this.id))
				.withMessage("printer");
		}
		assertThat(accounts.balance(this.id)).isEqualTo("99");
	}

	// case 20, with the journal; check 3
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void case20WhenAnswerToCommitIsLostThenUnknownAndTheNextCallFindsOut(boolean forwarded) {
		accounts.open(this.id);
		assertThatExceptionOfType(OutcomeUnknownException.class)
			.isThrownBy(() -> accounts.withdraw(this.id, this.id, BigDecimal.ONE,
					() -> atCommit(forwarded ? proxy::swallowReplies : proxy::swallow)))
			.satisfies((ex) -> assertThat(ex.getOperationId()).isEqualTo(this.id));
		proxy.pass();
		boolean[] ran = new boolean[1];
		BigDecimal answer = accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> ran[0] = true);
		assertThat(answer).isEqualTo("99");
		assertThat(ran[0]).isNotEqualTo(forwarded);
		assertThat(accounts.balance(this.id)).isEqualTo("99");
	}

	// what certainly kept the commit from being sent is no unknown outcome
	@Test
	void whenListenerThrowsBeforeTheCommitThenItsExceptionAndRepeatable() {
		accounts.open(this.id);
		assertThatIllegalStateException().isThrownBy(() -> accounts.withdraw(this.id, this.id, BigDecimal.ONE,
				() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						throw new IllegalStateException("listener");
					}

				})))
			.withMessage("listener");
		assertThat(accounts.balance(this.id)).isEqualTo("100");
		accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
		});
		assertThat(accounts.balance(this.id)).isEqualTo("99");
	}

	@Test
	void whenFingerprintWasMadeWithAnotherKeyThenRefusedAsSuchAndNotAsAnotherRequest() {
		accounts.open(this.id);
		accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
		});
		node.getBean(JdbcTemplate.class)
			.update("UPDATE fencing_operation SET input_hash = 'ffffffff' || SUBSTR(input_hash, 9) WHERE identity = ?",
					this.id);
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
			}))
			.withMessageContaining("'fencing.journal.fingerprint-key'");
		assertThat(accounts.balance(this.id)).isEqualTo("99");
	}

	// as calls will read it
	@Test
	void whenDecidedResultIsNotWhatTheMethodDeclaresThenRefused() {
		accounts.open(this.id);
		accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
		});
		JdbcTemplate jdbc = node.getBean(JdbcTemplate.class);
		jdbc.update("UPDATE fencing_operation SET state = 'UNDECIDED' WHERE identity = ?", this.id);
		UndecidedOperations undecided = node.getBean(UndecidedOperations.class);
		UndecidedOperation found = undecided.find(1).get(0);
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> undecided.decide(found, OperationDecision.completed("hello")));
		assertThat(undecided.decide(found, OperationDecision.completed(null))).isTrue();
		assertThat(accounts.withdraw(this.id, this.id, BigDecimal.ONE, () -> {
		})).isNull();
	}

	private static void atCommit(Runnable task) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCompletion() {
				task.run();
			}

		});
	}

	@ParameterizedTest
	@CsvSource({ "Nameless, name of its own", "Staged, return the finished result", "Fresh, than REQUIRED",
			"Nested, than REQUIRED", "ReadOnly, than REQUIRED", "InputOnly, without an 'operationId'",
			"Skipping, let it fail when it is busy" })
	void whenRecordCannotCommitWithTheWorkThenRefusedAtStart(String type, String remedy) throws Exception {
		Class<?> beans = Class.forName(JournaledMethodTests.class.getName() + "$" + type);
		Throwable failure = Assertions.catchThrowable(() -> start("jdbc:h2:mem:" + this.id, beans).close());
		assertThat(failure).isInstanceOf(InvalidFencedOperationException.class).hasMessageContaining(remedy);
	}

	static class Accounts {

		private final JdbcTemplate jdbc;

		Accounts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		void open(String id) {
			this.jdbc.update("INSERT INTO account VALUES (?, 100)", id);
		}

		BigDecimal balance(String id) {
			return this.jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", BigDecimal.class, id);
		}

		@Transactional
		@FencedOperation(resource = "account:#{#id}", name = "withdraw", operationId = "#{#request}",
				input = "#{#amount}")
		BigDecimal withdraw(String id, String request, BigDecimal amount, Runnable also) {
			this.jdbc.update("UPDATE account SET balance = balance - ? WHERE id = ?", amount, id);
			also.run();
			return balance(id);
		}

		@Transactional
		@FencedOperation(resource = "account:#{#id}", name = "print", operationId = "#{#request}")
		void withdrawAndFail(String id, String request) throws IOException {
			this.jdbc.update("UPDATE account SET balance = balance - 1 WHERE id = ?", id);
			throw new IOException("printer");
		}

	}

	static class Nameless {

		@FencedOperation(resource = "a", operationId = "#{#id}")
		void run(String id) {
		}

	}

	static class Staged {

		@FencedOperation(resource = "a", name = "staged", operationId = "#{#id}")
		CompletableFuture<String> run(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class Fresh {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@FencedOperation(resource = "a", name = "fresh", operationId = "#{#id}")
		void run(String id) {
		}

	}

	// a rolled back savepoint would be recorded as completed
	static class Nested {

		@Transactional(propagation = Propagation.NESTED)
		@FencedOperation(resource = "a", name = "nested", operationId = "#{#id}")
		void run(String id) {
		}

	}

	static class ReadOnly {

		@Transactional(readOnly = true)
		@FencedOperation(resource = "a", name = "reading", operationId = "#{#id}")
		void run(String id) {
		}

	}

	static class Skipping {

		@FencedOperation(resource = "a", name = "skipping", operationId = "#{#id}", onBusy = OnBusy.SKIP)
		String run(String id) {
			return id;
		}

	}

	static class InputOnly {

		@FencedOperation(resource = "a", input = "#{#id}")
		void run(String id) {
		}

	}

}
