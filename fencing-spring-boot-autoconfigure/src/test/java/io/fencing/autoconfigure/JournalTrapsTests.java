package io.fencing.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.fencing.AttemptEvent;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingListener;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationTransaction;
import io.fencing.OutcomeUnknownException;
import io.fencing.StaleTokenException;
import io.fencing.operation.Reconciliation;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Ways to lose or to repeat an operation with an identity, on PostgreSQL.
 */
class JournalTrapsTests {

	private static ConfigurableApplicationContext node;

	private static JdbcTemplate jdbc;

	private static FencedOperations operations;

	private final String id = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		SpringApplication application = new SpringApplication(LedgerApplication.class, Beans.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.ofEntries(Map.entry("spring.datasource.url", url),
				Map.entry("spring.data.redis.url", TestServers.redisUrl()), Map.entry("fencing.namespace", url),
				Map.entry("fencing.jdbc.initialize-schema", "always"), Map.entry("spring.main.banner-mode", "off"),
				Map.entry("spring.flyway.enabled", "false"), Map.entry("fencing.journal.reconciler.interval", "0"),
				Map.entry("fencing.journal.reconciler.after", "1s"), Map.entry("fencing.journal.timeout", "1s"),
				Map.entry("fencing.operations.short.max-hold", "10s"),
				Map.entry("fencing.operations.short.programmatic", "true")));
		node = application.run();
		jdbc = node.getBean(JdbcTemplate.class);
		operations = node.getBean(FencedOperations.class);
		jdbc.execute("CREATE TABLE effect (id VARCHAR(200) NOT NULL)");
		jdbc.execute("CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN IF NEW.id LIKE 'bad%' THEN "
				+ "RAISE EXCEPTION 'not balanced'; END IF; RETURN NULL; END $$ LANGUAGE plpgsql");
		jdbc.execute("CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED "
				+ "FOR EACH ROW EXECUTE FUNCTION refuse()");
	}

	@AfterAll
	static void stop() {
		node.close();
	}

	@BeforeEach
	void clear() {
		jdbc.update("DELETE FROM fencing_operation");
		node.getBean(Stepping.class).next = () -> {
		};
	}

	// case 82
	@Test
	void case82WhenTransactionOfAnotherManagerHasEndedThenASecondOneIsStillRefused() {
		TransactionTemplate other = new TransactionTemplate(node.getBean("messages", PlatformTransactionManager.class));
		TransactionTemplate another = new TransactionTemplate(
				node.getBean("transactionManager", PlatformTransactionManager.class));
		another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		Throwable failure = catchThrowable(() -> operations.call(request("deposit").build(), () -> {
			other.executeWithoutResult((status) -> status.setRollbackOnly());
			another.executeWithoutResult((status) -> effect(this.id));
			throw new IllegalStateException("after the second one");
		}));
		assertThat(effects(this.id)).isZero();
		assertThat(failure).isInstanceOf(InvalidFencedOperationException.class);
	}

	// case 21
	@Test
	void case21WhenBodySwallowsAnErrorThenTheCallEndsWithAnExceptionThatCallersKnow() {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> operations.call(request("deposit").build(), () -> {
				catchThrowable(() -> jdbc.update("INSERT INTO nowhere VALUES (1)"));
				return "saved";
			}));
		assertThat(state()).isEqualTo("FAILED");
	}

	@Test
	void whenRecordMeetsASerializationFailureThenItIsToldAsOne() throws SQLException {
		jdbc.execute("CREATE TABLE IF NOT EXISTS pair (id VARCHAR(9), amount INT)");
		jdbc.update("INSERT INTO pair VALUES ('a', 1), ('b', 1)");
		try (Connection other = node.getBean(DataSource.class).getConnection()) {
			other.setAutoCommit(false);
			other.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			FencedOperationRequest request = request("deposit")
				.transaction(new OperationTransaction(null, Connection.TRANSACTION_SERIALIZABLE, -1, (thrown) -> true))
				.build();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> operations.call(request, () -> {
					jdbc.queryForObject("SELECT sum(amount) FROM pair", Integer.class);
					jdbc.update("INSERT INTO pair VALUES ('a', 1)");
					other.createStatement().executeQuery("SELECT sum(amount) FROM pair");
					other.createStatement().executeUpdate("INSERT INTO pair VALUES ('b', 1)");
					other.commit();
					return "saved";
				}));
		}
		assertThat(state()).isEqualTo("FAILED");
	}

	// an answer to the commit, and no unknown outcome
	@Test
	void whenDeferredTriggerRefusesAtTheCommitThenItsExceptionAndRepeatable() {
		Throwable failure = catchThrowable(() -> operations.call(request("deposit").build(), () -> {
			effect("bad" + this.id);
			return "saved";
		}));
		assertThat(failure).isInstanceOf(TransactionException.class).hasStackTraceContaining("not balanced");
		assertThat(state()).isEqualTo("FAILED");
	}

	@Test
	void whenSettingsOfAnOperationFitOnlyItsCallsThenItIsSettledAllTheSame() {
		leaveDead("short", this.id, false);
		jdbc.update("UPDATE fencing_operation SET check_at = started_at - INTERVAL '1 day'");
		assertThat(node.getBean(Reconciliation.class).run()).isOne();
	}

	// a new version of the application may say so
	@Test
	void whenOperationHasBecomeExternalThenNoAttemptIsRepeatedByGuess() {
		leaveDead("deposit", this.id, false);
		assertThatExceptionOfType(OutcomeUnknownException.class)
			.isThrownBy(() -> operations.call(request("deposit").external(true).build(), () -> "again"));
		jdbc.update("UPDATE fencing_operation SET state = 'FAILED', external = false");
		assertThatIllegalStateException()
			.isThrownBy(() -> operations.call(request("deposit").external(true).build(), () -> {
				throw new IllegalStateException("after it was sent");
			}));
		assertThat(jdbc.queryForObject("SELECT external FROM fencing_operation", Boolean.class)).isTrue();
		assertThat(state()).isEqualTo("UNDECIDED");
	}

	@Test
	void whenFenceIsRaisedBeforeTheTransactionThenTheBodyDoesNotRun() {
		node.getBean(Stepping.class).next = () -> jdbc.update("UPDATE fencing_fence SET token = token + 1");
		boolean[] ran = new boolean[1];
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> operations.call(request("deposit").external(true).build(), () -> {
				ran[0] = true;
				return "sent";
			}));
		assertThat(ran[0]).isFalse();
		assertThat(state()).isEqualTo("FAILED");
	}

	@Test
	void whenIdentityIsNullThenRefused() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> operations.call(request("deposit").operationId(null).build(), () -> "ran"));
	}

	@Test
	void whenResultIsAStageThenRefusedAndNothingIsDone() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> operations.call(request("deposit").resultType(Object.class).build(), () -> {
				effect(this.id);
				return CompletableFuture.completedFuture("later");
			}));
		assertThat(effects(this.id)).isZero();
	}

	// a retry would get another answer
	@Test
	void whenResultWouldBeReadAsAnotherTypeThenRefusedAndNothingIsDone() {
		for (Class<?> type : List.of(Object.class, Receipt.class)) {
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> operations.call(request("deposit").resultType(type).build(), () -> {
					effect(this.id);
					return new PrintedReceipt();
				}))
				.withMessageContaining(PrintedReceipt.class.getName());
		}
		assertThat(effects(this.id)).isZero();
	}

	// the journal never needs a second connection while it has one
	@Test
	void whenPoolHasOneConnectionThenEveryEndIsRecorded() {
		String url = node.getEnvironment().getProperty("spring.datasource.url");
		try (ConfigurableApplicationContext small = LedgerApplication.startOn(url,
				"spring.datasource.hikari.maximum-pool-size=1", "spring.datasource.hikari.connection-timeout=2000",
				"fencing.operations.short.programmatic=true")) {
			FencedOperations few = small.getBean(FencedOperations.class);
			assertThatIllegalStateException().isThrownBy(() -> few.call(request("deposit").build(), () -> {
				small.getBean(JdbcTemplate.class).update("INSERT INTO effect VALUES ('one')");
				throw new IllegalStateException();
			}));
			assertThat(state()).isEqualTo("FAILED");
			// its claim needs a connection of its own
			assertThatExceptionOfType(CannotGetJdbcConnectionException.class)
				.isThrownBy(() -> few.call(request("deposit").build(),
						() -> few.call(FencedOperationRequest.of("inner", "account:other" + this.id), () -> "inner")));
			assertThat(state()).isEqualTo("FAILED");
			assertThat(few.<String, RuntimeException>call(request("deposit").build(), () -> "saved"))
				.isEqualTo("saved");
		}
		assertThat(state()).isEqualTo("COMPLETED");
	}

	private void leaveDead(String name, String identity, boolean external) {
		assertThatIllegalStateException().isThrownBy(() -> operations
			.call(request(name).resource("account:" + identity).operationId(identity).build(), () -> {
				throw new IllegalStateException();
			}));
		jdbc.update("UPDATE fencing_operation SET state = 'RUNNING', external = ? WHERE identity = ?", external,
				identity);
	}

	private FencedOperationRequest.Builder request(String name) {
		return FencedOperationRequest.builder(name)
			.resource("account:" + this.id)
			.leaseTime(Duration.ofSeconds(5))
			.operationId(this.id)
			.resultType(String.class);
	}

	private void effect(String effect) {
		jdbc.update("INSERT INTO effect VALUES (?)", effect);
	}

	private int effects(String effect) {
		return jdbc.queryForObject("SELECT COUNT(*) FROM effect WHERE id = ?", Integer.class, effect);
	}

	private String state() {
		return state(this.id);
	}

	private String state(String identity) {
		return jdbc.queryForObject("SELECT state FROM fencing_operation WHERE identity = ?", String.class, identity);
	}

	/**
	 * A result.
	 */
	static class Receipt {

		public int number = 1;

	}

	/**
	 * A result with more in it.
	 */
	static class PrintedReceipt extends Receipt {

		public String printer = "p";

	}

	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Stepping stepping() {
			return new Stepping();
		}

		@Bean(defaultCandidate = false)
		PlatformTransactionManager messages() {
			return new MessageTransactionManager();
		}

	}

	/**
	 * Does something when an attempt has started.
	 */
	static final class Stepping implements FencingListener {

		private volatile Runnable next = () -> {
		};

		@Override
		public void onAttempt(String operation, String identity, int attempt, AttemptEvent event) {
			if (event == AttemptEvent.STARTED) {
				Runnable now = this.next;
				this.next = () -> {
				};
				now.run();
			}
		}

	}

	/**
	 * Of something that is no database.
	 */
	static final class MessageTransactionManager extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
