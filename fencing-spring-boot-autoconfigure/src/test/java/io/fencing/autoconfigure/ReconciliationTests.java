package io.fencing.autoconfigure;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fencing.AttemptEvent;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingListener;
import io.fencing.OperationDecision;
import io.fencing.OperationReconciler;
import io.fencing.OutcomeUnknownException;
import io.fencing.UndecidedOperation;
import io.fencing.UndecidedOperations;
import io.fencing.operation.Reconciliation;
import io.fencing.testing.TestServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What becomes of operations with an identity that have no end, on real servers.
 */
@ParameterizedClass
@EnumSource
class ReconciliationTests {

	private static final Map<Server, ConfigurableApplicationContext> NODES = new EnumMap<>(Server.class);

	private final ConfigurableApplicationContext node;

	private final JdbcTemplate jdbc;

	private final FencedOperations operations;

	private final Reconciliation reconciliation;

	private final UndecidedOperations undecided;

	private final Seen seen;

	private final Bank bank;

	private final String id = UUID.randomUUID().toString();

	ReconciliationTests(Server server) {
		this.node = NODES.computeIfAbsent(server, (one) -> start(one.url(), "0"));
		this.jdbc = this.node.getBean(JdbcTemplate.class);
		this.operations = this.node.getBean(FencedOperations.class);
		this.reconciliation = this.node.getBean(Reconciliation.class);
		this.undecided = this.node.getBean(UndecidedOperations.class);
		this.seen = this.node.getBean(Seen.class);
		this.bank = this.node.getBean(Bank.class);
	}

	@AfterAll
	static void stop() {
		NODES.values().forEach(ConfigurableApplicationContext::close);
		NODES.clear();
	}

	private static ConfigurableApplicationContext start(String url, String interval) {
		SpringApplication application = new SpringApplication(LedgerApplication.class, Beans.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("spring.datasource.url", url, "spring.data.redis.url",
				TestServers.redisUrl(), "fencing.namespace", url, "fencing.jdbc.initialize-schema", "always",
				"spring.main.banner-mode", "off", "spring.flyway.enabled", "false",
				"fencing.journal.reconciler.interval", interval, "fencing.journal.reconciler.after", "1s"));
		return application.run();
	}

	@BeforeEach
	void clear() {
		this.jdbc.update("DELETE FROM fencing_operation");
		this.seen.events.clear();
		this.bank.asked.clear();
		this.bank.answers.clear();
	}

	// case 61
	@Test
	void case61WhenAttemptIsDeadThenFailedAndTheNextCallRuns() {
		leaveDead("deposit", false);
		assertThat(this.reconciliation.run()).isZero();
		makeDue();
		assertThat(this.reconciliation.run()).isOne();
		assertThat(state()).isEqualTo("FAILED");
		assertThat(this.reconciliation.run()).isZero();
		assertThat(this.operations.<String, RuntimeException>call(request("deposit", false), () -> "paid"))
			.isEqualTo("paid");
		assertThat(this.seen.events).containsExactly("deposit 1 STARTED", "deposit 1 FAILED", "deposit 2 STARTED",
				"deposit 2 COMPLETED");
	}

	@Test
	void whenAttemptIsAliveThenItIsLeftAloneAndEndsAsIfNobodyHadLooked() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		CompletableFuture<String> call = CompletableFuture
			.supplyAsync(() -> this.operations.call(request("deposit", false), () -> {
				entered.countDown();
				await(go);
				return "paid";
			}));
		try {
			await(entered);
			makeDue();
			assertThat(this.reconciliation.run()).isZero();
			assertThat(this.jdbc.queryForObject("SELECT checks FROM fencing_operation", Integer.class)).isOne();
			assertThat(state()).isEqualTo("RUNNING");
		}
		finally {
			go.countDown();
		}
		assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("paid");
		assertThat(state()).isEqualTo("COMPLETED");
	}

	@Test
	void whenExternalAttemptIsDeadAndNobodyKnowsThenItWaitsForAPersonWhoDecides() {
		leaveDead("print", true);
		makeDue();
		assertThat(this.reconciliation.run()).isOne();
		makeDue();
		assertThat(this.reconciliation.run()).isZero();
		assertThatExceptionOfType(OutcomeUnknownException.class)
			.isThrownBy(() -> this.operations.call(request("print", true), () -> "ran again"));
		UndecidedOperation found = this.undecided.find(10).get(0);
		assertThat(found.name()).isEqualTo("print");
		assertThat(found.operationId()).isEqualTo(this.id);
		assertThat(found.attempts()).isOne();
		assertThat(Duration.between(found.since(), Instant.now()).abs()).isLessThan(Duration.ofMinutes(5));
		assertThat(this.undecided.decide(found, OperationDecision.unknown())).isFalse();
		assertThat(this.undecided.decide(found, OperationDecision.completed("printed"))).isTrue();
		assertThat(this.undecided.decide(found, OperationDecision.notDone())).isFalse();
		assertThat(this.operations.<String, RuntimeException>call(request("print", true), () -> "ran again"))
			.isEqualTo("printed");
		assertThat(this.undecided.find(10)).isEmpty();
		assertThat(this.seen.events).containsExactly("print 1 STARTED", "print 1 UNDECIDED", "print 1 COMPLETED",
				"print 1 ANSWERED");
	}

	@Test
	void whenPersonDecidesThatItWasNotDoneThenTheNextCallRuns() {
		leaveDead("print", true);
		UndecidedOperation found = undecidedNow();
		assertThat(this.undecided.decide(found, OperationDecision.notDone())).isTrue();
		assertThat(this.operations.<String, RuntimeException>call(request("print", true), () -> "printed"))
			.isEqualTo("printed");
		assertThat(this.undecided.decide(found, OperationDecision.notDone())).isFalse();
		assertThat(state()).isEqualTo("COMPLETED");
	}

	@Test
	void whenReconcilerDoesNotKnowOrFailsThenItIsAskedAgainAtGrowingIntervalsUntilItKnows() {
		leaveDead("remit", true);
		undecidedNow();
		List<OperationDecision> answers = List.of(OperationDecision.unknown(),
				OperationDecision.completed(Thread.currentThread()), OperationDecision.completed("remitted"));
		for (int i = 0; i < 4; i++) {
			if (i > 0) {
				this.bank.answers.add(answers.get(i - 1));
			}
			makeDue();
			assertThat(this.reconciliation.run()).isEqualTo((i < 3) ? 0 : 1);
			assertThat(this.reconciliation.run()).isZero();
		}
		assertThat(this.bank.asked).extracting(UndecidedOperation::checks).containsExactly(0, 1, 2, 3);
		assertThat(this.bank.asked).extracting(UndecidedOperation::operationId).containsOnly(this.id);
		assertThat(this.operations.<String, RuntimeException>call(request("remit", true), () -> "ran again"))
			.isEqualTo("remitted");
	}

	@Test
	void whenManyLookAtOnceThenEachOperationIsAskedForOnce() throws Exception {
		for (int i = 0; i < 40; i++) {
			leaveDead("remit", true, this.id + i);
		}
		this.jdbc.update("UPDATE fencing_operation SET state = 'UNDECIDED'");
		makeDue();
		List<CompletableFuture<Integer>> runs = Stream
			.generate(() -> CompletableFuture.supplyAsync(this.reconciliation::run))
			.limit(4)
			.toList();
		for (CompletableFuture<Integer> run : runs) {
			run.get(60, TimeUnit.SECONDS);
		}
		assertThat(this.bank.asked).hasSize(40).extracting(UndecidedOperation::operationId).doesNotHaveDuplicates();
	}

	// a node that hangs between its record and its commit
	@Test
	void whenOneRowIsLockedThenTheOthersAreLookedAfter() throws SQLException {
		leaveDead("deposit", false, "locked");
		leaveDead("deposit", false, "free");
		makeDue();
		try (Connection frozen = this.node.getBean(DataSource.class).getConnection()) {
			frozen.setAutoCommit(false);
			frozen.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			frozen.createStatement()
				.executeUpdate("UPDATE fencing_operation SET attempts = 7 WHERE identity = 'locked'");
			assertThat(this.reconciliation.run()).isOne();
			frozen.rollback();
		}
		assertThat(this.jdbc.queryForList("SELECT state FROM fencing_operation ORDER BY identity", String.class))
			.containsExactly("FAILED", "RUNNING");
	}

	// both attempts have the token of the operation around them
	@Test
	void whenDecisionIsAboutAnEarlierAttemptThenItDoesNotCount() {
		this.operations.run(FencedOperationRequest.of("batch", "account:" + this.id, "account:other"), () -> {
			List<UndecidedOperation> seen = new ArrayList<>();
			for (int i = 0; i < 2; i++) {
				assertThatIllegalStateException().isThrownBy(() -> this.operations.call(request("print", true), () -> {
					throw new IllegalStateException("jam");
				}));
				seen.add(this.undecided.find(1).get(0));
				assertThat(this.undecided.decide(seen.get(0), OperationDecision.notDone())).isEqualTo(i == 0);
			}
			assertThat(seen.get(1).token()).isEqualTo(seen.get(0).token());
			assertThat(this.undecided.decide(seen.get(1), OperationDecision.notDone())).isTrue();
		});
	}

	@Test
	void whenCompletedWithoutAResultThenAnsweredWithNothing() {
		leaveDead("print", true);
		assertThat(this.undecided.decide(undecidedNow(), OperationDecision.completed(null))).isTrue();
		assertThat(this.operations.<String, RuntimeException>call(request("print", true), () -> "ran again")).isNull();
	}

	@Test
	void whenOperationIsOfAnotherNamespaceThenItIsNotLookedAt() {
		leaveDead("deposit", false);
		this.jdbc.update("UPDATE fencing_operation SET namespace = 'other'");
		makeDue();
		assertThat(this.reconciliation.run()).isZero();
		assertThat(state()).isEqualTo("RUNNING");
	}

	@Test
	void whenApplicationRunsThenItLooksByItselfAndStopsWithIt() {
		leaveDead("deposit", false);
		makeDue();
		String url = this.node.getEnvironment().getProperty("spring.datasource.url");
		try (ConfigurableApplicationContext other = start(url, "200ms")) {
			Awaitility.await().until(this::state, "FAILED"::equals);
			assertThat(threads()).isNotEmpty();
		}
		assertThat(threads()).isEmpty();
	}

	// check 5
	@Test
	void whenLoggedThenOperationFingerprintAttemptAndEventAndNoPayload() {
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		Logger logger = (Logger) LoggerFactory.getLogger("io.fencing");
		Level level = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		logger.addAppender(log);
		try {
			leaveDead("print", true);
			this.undecided.decide(undecidedNow(), OperationDecision.notDone());
			this.operations.<String, RuntimeException>call(request("print", true), () -> "secret result");
			this.operations.<String, RuntimeException>call(request("print", true), () -> "never");
		}
		finally {
			logger.detachAppender(log);
			logger.setLevel(level);
		}
		List<String> lines = log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
		assertThat(lines).noneMatch((line) -> line.contains(this.id) || line.contains("secret"));
		String identity = "Operation 'print', identity #[0-9a-f]{10}";
		for (String event : List.of(", attempt 1: STARTED", ": attempt 1 has ended and may have had effects .*",
				", attempt 1: FAILED", ", attempt 2: STARTED", ", attempt 2: COMPLETED", ", attempt 2: ANSWERED")) {
			assertThat(lines).anyMatch((line) -> line.matches(identity + event));
		}
		assertThat(this.seen.events).containsExactly("print 1 STARTED", "print 1 UNDECIDED", "print 1 FAILED",
				"print 2 STARTED", "print 2 COMPLETED", "print 2 ANSWERED");
	}

	private static List<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("fencing-reconciler-"))
			.toList();
	}

	private UndecidedOperation undecidedNow() {
		makeDue();
		assertThat(this.reconciliation.run()).isOne();
		return this.undecided.find(1).get(0);
	}

	// what a crash leaves: the row of an attempt
	private void leaveDead(String name, boolean external) {
		leaveDead(name, external, this.id);
	}

	private void leaveDead(String name, boolean external, String identity) {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.operations.call(builder(name, false).operationId(identity).build(), () -> {
				throw new IllegalStateException();
			}));
		this.jdbc.update(
				"UPDATE fencing_operation SET state = 'RUNNING', external = ?, check_at = ? WHERE identity = ?",
				external, Timestamp.from(Instant.now().plus(Duration.ofDays(2))), identity);
		this.seen.events.removeIf((event) -> event.endsWith("FAILED"));
	}

	private void makeDue() {
		this.jdbc.update("UPDATE fencing_operation SET check_at = started_at");
	}

	private String state() {
		return this.jdbc.queryForObject("SELECT state FROM fencing_operation", String.class);
	}

	private FencedOperationRequest request(String name, boolean external) {
		return builder(name, external).build();
	}

	private FencedOperationRequest.Builder builder(String name, boolean external) {
		return FencedOperationRequest.builder(name)
			.resource("account:" + this.id)
			.resource("account:other")
			.operationId(this.id)
			.input("secret input")
			.resultType(String.class)
			.external(external);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Listens, and knows about remittances.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Beans {

		@Bean
		Seen seen() {
			return new Seen();
		}

		@Bean
		Bank bank() {
			return new Bank();
		}

	}

	/**
	 * Writes events down.
	 */
	static final class Seen implements FencingListener {

		private final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void onAttempt(String operation, String identity, int attempt, AttemptEvent event) {
			assertThat(identity).matches("#[0-9a-f]{10}");
			this.events.add(operation + " " + attempt + " " + event);
		}

	}

	/**
	 * Answers as it was told, and fails where it was not.
	 */
	static final class Bank implements OperationReconciler {

		private final List<UndecidedOperation> asked = new CopyOnWriteArrayList<>();

		private final List<OperationDecision> answers = new ArrayList<>();

		@Override
		public String getOperation() {
			return "remit";
		}

		@Override
		public OperationDecision reconcile(UndecidedOperation operation) throws Exception {
			this.asked.add(operation);
			if (this.answers.isEmpty()) {
				throw new IOException("the bank does not answer");
			}
			return this.answers.remove(0);
		}

	}

	/**
	 * Where the journal is.
	 */
	enum Server {

		POSTGRESQL, MARIADB, H2;

		String url() {
			return switch (this) {
				case POSTGRESQL -> TestServers.newPostgresUrl();
				case MARIADB -> TestServers.newMariaDbUrl();
				case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
			};
		}

	}

}
