package io.fencing.autoconfigure;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.InvalidFencedOperationException;
import io.fencing.JournalUnavailableException;
import io.fencing.OperationConflictException;
import io.fencing.OperationTransaction;
import io.fencing.OutcomeUnknownException;
import io.fencing.journal.OperationState;
import io.fencing.journal.jdbc.JdbcOperationJournal;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Operations with an identity, called through {@link FencedOperations}, on real servers.
 */
@ParameterizedClass
@EnumSource
class JournaledOperationTests {

	private static final Map<Server, ConfigurableApplicationContext> NODES = new EnumMap<>(Server.class);

	private final ConfigurableApplicationContext node;

	private final JdbcTemplate jdbc;

	private final FencedOperations operations;

	private final String id = UUID.randomUUID().toString();

	JournaledOperationTests(Server server) {
		this.node = NODES.computeIfAbsent(server, (one) -> one.start());
		this.jdbc = this.node.getBean(JdbcTemplate.class);
		this.operations = this.node.getBean(FencedOperations.class);
	}

	@AfterAll
	static void stop() {
		NODES.values().forEach(ConfigurableApplicationContext::close);
		NODES.clear();
	}

	@BeforeEach
	void createTable() {
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS effect (id VARCHAR(200) NOT NULL)");
	}

	// check 2
	@Test
	void whenIdentityComesAgainThenRecordedResultAndBodyNotRun() {
		Receipt first = this.operations.call(request().build(), this::effect);
		Receipt again = this.operations.call(request().build(), () -> {
			throw new IllegalStateException("ran again");
		});
		assertThat(again).isEqualTo(first);
		assertThat(effects()).isOne();
		assertThat(state()).isEqualTo("COMPLETED");
	}

	@Test
	void whenIdentityComesWithOtherInputOrResourceThenConflictAndNothingIsDone() {
		this.operations.call(request().build(), this::effect);
		assertThatExceptionOfType(OperationConflictException.class)
			.isThrownBy(() -> this.operations.call(request().input("other").build(), this::effect));
		assertThatExceptionOfType(OperationConflictException.class)
			.isThrownBy(() -> this.operations.call(request().resource("other").build(), this::effect));
		assertThat(effects()).isOne();
	}

	@Test
	void whenBodyThrowsThenExceptionUnchangedNothingWrittenAndRepeatable() {
		assertThatIllegalStateException().isThrownBy(() -> this.operations.call(request().build(), () -> {
			effect();
			throw new IllegalStateException("no");
		})).withMessage("no");
		assertThat(effects()).isZero();
		assertThat(state()).isEqualTo("FAILED");
		this.operations.call(request().build(), this::effect);
		assertThat(effects()).isOne();
		assertThat(attempts()).isEqualTo(2);
	}

	// case 93
	@Test
	void case93WhenBodySetsRollbackOnlyThenValueReturnedNothingCommittedAndRepeatable() {
		TransactionTemplate joining = joining();
		Receipt result = this.operations.call(request().build(), () -> joining.execute((status) -> {
			status.setRollbackOnly();
			return effect();
		}));
		assertThat(result).isNotNull();
		assertThat(effects()).isZero();
		assertThat(state()).isEqualTo("FAILED");
	}

	// case 81
	@Test
	void case81WhenCommittedAlthoughItThrewThenFinalAndAnsweredAgain() {
		FencedOperationRequest request = request()
			.transaction(new OperationTransaction(null, -1, -1, (thrown) -> !(thrown instanceof IllegalStateException)))
			.build();
		for (int i = 0; i < 2; i++) {
			assertThatIllegalStateException().isThrownBy(() -> this.operations.call(request, () -> {
				effect();
				throw new IllegalStateException("committed");
			})).withMessage("committed");
		}
		assertThat(effects()).isOne();
		assertThat(state()).isEqualTo("REJECTED");
	}

	@Test
	void whenExceptionIsListedThenFinalAndAnsweredAgainWithoutEffect() {
		FencedOperationRequest request = request().notRepeatableFor(Set.of(IllegalStateException.class)).build();
		for (int i = 0; i < 2; i++) {
			assertThatIllegalStateException().isThrownBy(() -> this.operations.call(request, () -> {
				effect();
				throw new IllegalStateException("no money");
			})).withMessage("no money");
		}
		assertThat(effects()).isZero();
		assertThat(attempts()).isOne();
	}

	// else a later call could be answered otherwise
	@Test
	void whenFinalExceptionCannotBeRecordedThenItIsNoAnswerYet() {
		FencedOperationRequest request = request().notRepeatableFor(Set.of(IllegalStateException.class)).build();
		JdbcTemplate other = new JdbcTemplate(this.node.getBean(DataSource.class));
		try {
			assertThatExceptionOfType(OutcomeUnknownException.class)
				.isThrownBy(() -> this.operations.call(request, () -> {
					CompletableFuture
						.runAsync(() -> other.execute("ALTER TABLE fencing_operation RENAME TO fencing_moved"))
						.join();
					throw new IllegalStateException("no money");
				}))
				.withCauseInstanceOf(IllegalStateException.class);
		}
		finally {
			this.jdbc.execute("ALTER TABLE fencing_moved RENAME TO fencing_operation");
		}
		assertThat(state()).isEqualTo("RUNNING");
		assertThat(this.operations.<Receipt, RuntimeException>call(request, this::effect)).isNotNull();
	}

	// case 82
	@Test
	void case82WhenBodyBeginsAnotherTransactionThenRefusedAndNothingIsDone() {
		TransactionTemplate another = new TransactionTemplate(this.node.getBean(PlatformTransactionManager.class));
		another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.operations.call(request().build(), () -> another.execute((status) -> effect())))
			.withMessageContaining("second transaction");
		assertThat(effects()).isZero();
		assertThat(state()).isEqualTo("FAILED");
	}

	// the operation around it goes on as before
	@Test
	void whenCalledInsideOfAnOperationOnTheSameResourceThenOnlyItsOwnTransactionsAreLimited() {
		TransactionTemplate another = new TransactionTemplate(this.node.getBean(PlatformTransactionManager.class));
		another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.operations.run(FencedOperationRequest.of("batch", "account:" + this.id), () -> {
			this.operations.call(request().build(), this::effect);
			joining().executeWithoutResult((outer) -> another.executeWithoutResult((inner) -> effect()));
		});
		assertThat(effects()).isEqualTo(2);
	}

	@Test
	void whenCallerHasATransactionThenRefusedWithoutATrace() {
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(
				() -> joining().executeWithoutResult((status) -> this.operations.call(request().build(), this::effect)))
			.withMessageContaining("outside of transactions");
		assertThat(this.jdbc.queryForList("SELECT state FROM fencing_operation WHERE identity = ?", this.id)).isEmpty();
	}

	@Test
	void whenResultIsTooLargeOrCannotBeWrittenThenNothingIsCommitted() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.operations.call(request().resultType(String.class).build(), () -> {
				effect();
				return "x".repeat(70_000);
			}))
			.withMessageContaining("max-result-size");
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.operations.call(request().resultType(Thread.class).build(), () -> {
				effect();
				return Thread.currentThread();
			}))
			.withMessageContaining("ResultCodec");
		assertThat(effects()).isZero();
		assertThat(state()).isEqualTo("FAILED");
	}

	@Test
	void whenResultIsVoidNullOrGenericThenItSurvives() {
		List<Receipt> receipts = List.of(new Receipt(new BigDecimal("1.10"), Instant.ofEpochSecond(1, 5)));
		FencedOperationRequest generic = request().resultType(new ParameterizedTypeReference<List<Receipt>>() {
		}.getType()).build();
		assertThat(Stream.generate(() -> this.operations.call(generic, () -> receipts)).limit(2))
			.containsExactly(receipts, receipts);
		FencedOperationRequest none = request().operationId("null" + this.id).build();
		assertThat(this.operations.<Receipt, RuntimeException>call(none, () -> null)).isNull();
		assertThat(this.operations.<Receipt, RuntimeException>call(none, this::effect)).isNull();
		FencedOperationRequest nothing = request().operationId("void" + this.id).resultType(void.class).build();
		this.operations.run(nothing, this::effect);
		this.operations.run(nothing, this::effect);
		assertThat(effects()).isOne();
	}

	// case 61: a crash left the row of an attempt
	@Test
	void case61WhenAttemptIsDeadThenTakenOverUnlessItHasEffectsElsewhere() {
		for (boolean external : new boolean[] { false, true }) {
			String identity = external + this.id;
			assertThatIllegalStateException()
				.isThrownBy(() -> this.operations.call(request().operationId(identity).build(), () -> {
					throw new IllegalStateException();
				}));
			this.jdbc.update("UPDATE fencing_operation SET state = 'RUNNING', external = ? WHERE identity = ?",
					external, identity);
		}
		this.operations.call(request().operationId("false" + this.id).build(), this::effect);
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(OutcomeUnknownException.class)
				.isThrownBy(() -> this.operations.call(request().operationId("true" + this.id).build(), this::effect));
		}
		assertThat(effects()).isOne();
		assertThat(this.jdbc.queryForObject("SELECT state FROM fencing_operation WHERE identity = ?", String.class,
				"true" + this.id))
			.isEqualTo("UNDECIDED");
	}

	// check 2, in one JVM
	@Test
	void whenCalledByManyThreadsThenOneEffectAndEqualAnswers() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(16);
		try {
			List<CompletableFuture<Receipt>> calls = new ArrayList<>();
			for (int i = 0; i < 16; i++) {
				calls.add(CompletableFuture.supplyAsync(() -> this.operations.call(request().build(), this::effect),
						threads));
			}
			Set<Receipt> answers = new HashSet<>();
			for (CompletableFuture<Receipt> call : calls) {
				answers.add(call.get(60, TimeUnit.SECONDS));
			}
			assertThat(answers).hasSize(1);
			assertThat(effects()).isOne();
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void whenJournalDoesNotAnswerThenBodyDoesNotRun() {
		this.jdbc.execute("ALTER TABLE fencing_operation RENAME TO fencing_moved");
		try {
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.operations.call(request().build(), this::effect))
				.withMessageContaining("fencing_operation")
				.isNotInstanceOf(JournalUnavailableException.class);
		}
		finally {
			this.jdbc.execute("ALTER TABLE fencing_moved RENAME TO fencing_operation");
		}
		assertThat(effects()).isZero();
	}

	// case 60
	@Test
	void case60WhenRetentionIsOverThenEndsAreForgottenByManyAtOnceAndNothingElse() throws Exception {
		this.jdbc.update("DELETE FROM fencing_operation");
		this.operations.call(request().build(), this::effect);
		Timestamp old = Timestamp.from(Instant.now().minus(Duration.ofDays(8)).truncatedTo(ChronoUnit.MILLIS));
		Stream<Object[]> rows = IntStream.range(0, 500)
			.mapToObj((i) -> new Object[] { "old" + i, OperationState.values()[1 + i % 5].name(), old, old, old });
		this.jdbc.batchUpdate("INSERT INTO fencing_operation (operation_key, namespace, name, identity, resource_keys, "
				+ "input_hash, token, owner, state, external, attempts, started_at, changed_at, check_at, checks) "
				+ "VALUES (?, 'n', 'n', 'i', 'r', 'h', 1, 'o', ?, false, 1, ?, ?, ?, 0)", rows.toList());
		JdbcOperationJournal journal = this.node.getBean(JdbcOperationJournal.class);
		List<CompletableFuture<Integer>> cleaners = Stream
			.generate(() -> CompletableFuture.supplyAsync(() -> journal.removeExpired(Duration.ofDays(7))))
			.limit(4)
			.toList();
		int removed = 0;
		for (CompletableFuture<Integer> cleaner : cleaners) {
			removed += cleaner.get(60, TimeUnit.SECONDS);
		}
		removed += journal.removeExpired(Duration.ofDays(7));
		assertThat(removed).isEqualTo(300);
		assertThat(this.jdbc.queryForList("SELECT DISTINCT state FROM fencing_operation WHERE changed_at = ?",
				String.class, old))
			.containsExactlyInAnyOrder("RUNNING", "UNDECIDED");
		assertThat(state()).isEqualTo("COMPLETED");
	}

	private TransactionTemplate joining() {
		return new TransactionTemplate(this.node.getBean(PlatformTransactionManager.class));
	}

	private FencedOperationRequest.Builder request() {
		return FencedOperationRequest.builder("deposit")
			.resource("account:" + this.id)
			.operationId(this.id)
			.input(List.of("account", new BigDecimal("10.50")))
			.resultType(Receipt.class);
	}

	private Receipt effect() {
		this.jdbc.update("INSERT INTO effect VALUES (?)", this.id);
		return new Receipt(new BigDecimal("10.50"), Instant.now());
	}

	private long effects() {
		return this.jdbc.queryForObject("SELECT COUNT(*) FROM effect WHERE id = ?", Long.class, this.id);
	}

	private String state() {
		return this.jdbc.queryForObject("SELECT state FROM fencing_operation WHERE identity = ?", String.class,
				this.id);
	}

	private int attempts() {
		return this.jdbc.queryForObject("SELECT attempts FROM fencing_operation WHERE identity = ?", Integer.class,
				this.id);
	}

	/**
	 * What a deposit answers with.
	 */
	record Receipt(BigDecimal amount, Instant at) {
	}

	/**
	 * Where the journal is.
	 */
	enum Server {

		POSTGRESQL, MARIADB, MYSQL, H2;

		ConfigurableApplicationContext start() {
			return LedgerApplication.startOn(newUrl(), "fencing.lease.wait=30s");
		}

		String newUrl() {
			return switch (this) {
				case POSTGRESQL -> TestServers.newPostgresUrl();
				case MARIADB -> TestServers.newMariaDbUrl();
				case MYSQL -> TestServers.newMySqlUrl();
				case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
			};
		}

	}

}
