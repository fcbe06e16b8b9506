package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.StaleTokenException;
import io.fencing.autoconfigure.LedgerApplication;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.MethodRetryEvent;
import org.springframework.resilience.retry.MethodRetryPredicate;
import org.springframework.retry.RetryCallback;
import org.springframework.retry.RetryContext;
import org.springframework.retry.RetryListener;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Operations that are retried, by both retry libraries, while another node works between
 * the attempts: each attempt begins anew, and one counts.
 */
class RetriedOperationTests {

	private static final Logger logger = LoggerFactory.getLogger(RetriedOperationTests.class);

	private static ConfigurableApplicationContext node;

	private static ConfigurableApplicationContext otherNode;

	private static Attempts attempts;

	private String id;

	@BeforeAll
	static void start() {
		String url = TestServers.newPostgresUrl();
		// so that what goes wrong ends
		String patience = "spring.datasource.hikari.connection-init-sql=SET lock_timeout = '10s'";
		node = LedgerApplication.startOn(url, patience, "spring.main.sources=" + Retrying.class.getName());
		otherNode = LedgerApplication.startOn(url, patience);
		node.getBean(Ledger.class).createTable();
		attempts = node.getBean(Attempts.class);
	}

	@AfterAll
	static void stop() {
		node.close();
		otherNode.close();
	}

	@BeforeEach
	void open() {
		this.id = UUID.randomUUID().toString();
		otherNode.getBean(Ledger.class).open(this.id);
		attempts.reset();
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(FencingContext.current()).isNull();
	}

	@ParameterizedTest
	@ValueSource(classes = { BySpring.class, BySpringRetry.class })
	void case04WhenBodyIsDeadlockedOnceThenNextAttemptIsNewAndOneEffectIsCommitted(Class<? extends Retried> type) {
		attempts.afterWrite = () -> {
			throw new CannotAcquireLockException("deadlock detected");
		};
		List<FencingToken> others = new ArrayList<>();
		attempts.between = () -> others.add(otherNode.getBean(Ledger.class).add(this.id, 10));
		node.getBean(type).add(this.id);
		attempts.log();
		assertThat(attempts.made).hasSize(2);
		Attempt first = attempts.made.get(0);
		Attempt second = attempts.made.get(1);
		assertThat(second.token().owner()).isNotEqualTo(first.token().owner());
		assertThat(others).singleElement().satisfies((other) -> {
			assertThat(other).isGreaterThan(first.token());
			assertThat(second.token()).isGreaterThan(other);
		});
		assertThat(second.transaction()).isNotEqualTo(first.transaction());
		assertThat(second.read()).as("reads anew").isEqualTo(10);
		assertThat(balance()).isEqualTo(11);
	}

	@ParameterizedTest
	@ValueSource(classes = { BySpring.class, BySpringRetry.class })
	void case04WhenAttemptIsOvertakenThenItsTokenIsNeverUsedAgain(Class<? extends Retried> type) {
		attempts.afterRead = this::overtake;
		List<Throwable> failures = new ArrayList<>();
		attempts.failed = failures::add;
		node.getBean(type).addWithoutTransaction(this.id);
		attempts.log();
		assertThat(failures).singleElement().isInstanceOf(StaleTokenException.class);
		assertThat(attempts.made).extracting(Attempt::read).containsExactly(0L, 10L);
		assertThat(attempts.made.get(1).token()).isGreaterThan(attempts.made.get(0).token());
		assertThat(attempts.made.get(1).token().owner()).isNotEqualTo(attempts.made.get(0).token().owner());
		assertThat(balance()).isEqualTo(11);
	}

	// whatever the body catches, its stale token writes nothing
	@ParameterizedTest
	@ValueSource(classes = { BySpring.class, BySpringRetry.class })
	void case04WhenAttemptIsOvertakenEachTimeThenLastRefusalReachesTheCaller(Class<? extends Retried> type) {
		attempts.keeps = true;
		attempts.afterRead = this::overtake;
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> node.getBean(type).addWithoutTransaction(this.id));
		assertThat(attempts.made).hasSize(4).extracting(Attempt::token).isSorted().doesNotHaveDuplicates();
		assertThat(balance()).isEqualTo(40);
	}

	// attempts in one transaction are one: the first has doomed it
	@ParameterizedTest
	@ValueSource(classes = { BySpring.class, BySpringRetry.class })
	void case04WhenCallerHasATransactionThenRetriesInItCommitNothing(Class<? extends Retried> type) {
		attempts.afterWrite = () -> {
			throw new CannotAcquireLockException("deadlock detected");
		};
		TransactionTemplate callers = new TransactionTemplate(node.getBean(PlatformTransactionManager.class));
		assertThatExceptionOfType(UnexpectedRollbackException.class)
			.isThrownBy(() -> callers.executeWithoutResult((status) -> node.getBean(type).add(this.id)));
		assertThat(attempts.made).hasSize(2).extracting(Attempt::token).containsOnly(attempts.made.get(0).token());
		assertThat(balance()).isZero();
		attempts.reset();
		node.getBean(type).add(this.id);
		assertThat(balance()).isOne();
	}

	@ParameterizedTest
	@ValueSource(classes = { BySpring.class, BySpringRetry.class })
	void whenResourceIsBusyThenRetriedUntilItIsFree(Class<? extends Retried> type) throws Exception {
		List<Throwable> failures = new ArrayList<>();
		attempts.failed = failures::add;
		otherNode.getBean(Ledger.class).withShortLease(this.id, () -> {
			attempts.between = this::dropLease;
			elsewhere(() -> node.getBean(type).add(this.id));
			return null;
		});
		assertThat(failures).singleElement()
			.isInstanceOfSatisfying(LeaseNotAcquiredException.class,
					(busy) -> assertThat(busy.getRetryAfter()).isPositive());
		assertThat(balance()).isOne();
	}

	@Test
	void whenFailureIsNotRetryableThenNotRetried() {
		attempts.keeps = true;
		attempts.afterRead = () -> {
			throw new IllegalArgumentException("no such amount");
		};
		for (Class<? extends Retried> type : List.of(BySpring.class, BySpringRetry.class)) {
			attempts.made.clear();
			assertThatThrownBy(() -> node.getBean(type).add(this.id)).isInstanceOf(IllegalArgumentException.class);
			assertThat(attempts.made).hasSize(1);
		}
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> node.getBean(BySpring.class).add(null));
		assertThat(balance()).isZero();
	}

	// as if the lease had run out
	private void overtake() {
		dropLease();
		elsewhere(() -> otherNode.getBean(Ledger.class).add(this.id, 10));
	}

	// both nodes are in this JVM, and a context belongs to a thread
	private static void elsewhere(Runnable task) {
		CompletableFuture.runAsync(task).orTimeout(20, TimeUnit.SECONDS).join();
	}

	private long balance() {
		return otherNode.getBean(Ledger.class).read(this.id);
	}

	private void dropLease() {
		FencedContextRunner.console().send("DEL " + FencedContextRunner.leaseKey(node, "account:" + this.id));
	}

	/** What one attempt had and saw. */
	record Attempt(FencingToken token, String transaction, long read) {

	}

	/** Makes the attempts, and lets something happen to them. */
	static class Attempts {

		private final Ledger ledger;

		private final JdbcTemplate jdbcTemplate;

		final List<Attempt> made = new ArrayList<>();

		private Runnable afterRead;

		private Runnable afterWrite;

		private Runnable between;

		private Consumer<Throwable> failed;

		// whether what happens happens to each attempt
		private boolean keeps;

		Attempts(Ledger ledger, JdbcTemplate jdbcTemplate) {
			this.ledger = ledger;
			this.jdbcTemplate = jdbcTemplate;
			reset();
		}

		void reset() {
			this.made.clear();
			this.afterRead = () -> {
			};
			this.afterWrite = this.afterRead;
			this.between = this.afterRead;
			this.failed = (failure) -> {
			};
			this.keeps = false;
		}

		void make(String id) {
			long balance = this.ledger.read(id);
			this.made.add(new Attempt(FencingContext.required().getToken(),
					this.jdbcTemplate.queryForObject("SELECT pg_current_xact_id()::text", String.class), balance));
			boolean happens = this.keeps || this.made.size() == 1;
			if (happens) {
				this.afterRead.run();
			}
			this.ledger.write(id, balance + 1);
			if (happens) {
				this.afterWrite.run();
			}
		}

		void onFailure(Throwable failure) {
			this.failed.accept(failure);
			this.between.run();
		}

		void log() {
			this.made.forEach((attempt) -> logger.info("Attempt with token {} of owner {} in transaction {}",
					attempt.token().value(), attempt.token().owner(), attempt.transaction()));
		}

		@EventListener
		void onRetry(MethodRetryEvent event) {
			if (!event.isRetryAborted()) {
				onFailure(event.getFailure());
			}
		}

	}

	/** Tells what happens between the attempts of spring-retry. */
	static class Between implements RetryListener {

		@Autowired
		Attempts attempts;

		@Override
		public <T, E extends Throwable> void onError(RetryContext context, RetryCallback<T, E> callback,
				Throwable failure) {
			this.attempts.onFailure(failure);
		}

	}

	interface Retried {

		void add(String id);

		void addWithoutTransaction(String id);

	}

	/** Whether calling the whole operation again may succeed. */
	static class RetryOperation implements MethodRetryPredicate {

		@Override
		public boolean shouldRetry(Method method, Throwable failure) {
			return (failure instanceof FencingException refusal) ? refusal.isRetryable()
					: failure instanceof TransientDataAccessException;
		}

	}

	static class BySpring implements Retried {

		@Autowired
		Attempts attempts;

		@Override
		@Retryable(predicate = RetryOperation.class, maxRetries = 3, delay = 10, jitter = 5, multiplier = 2)
		@FencedOperation(resource = "account:#{#id}", name = "add", waitTime = "0s")
		@Transactional
		public void add(String id) {
			this.attempts.make(id);
		}

		@Override
		@Retryable(predicate = RetryOperation.class, maxRetries = 3, delay = 10, jitter = 5, multiplier = 2)
		@FencedOperation(resource = "account:#{#id}", name = "add", waitTime = "0s")
		public void addWithoutTransaction(String id) {
			this.attempts.make(id);
		}

	}

	static class BySpringRetry implements Retried {

		@Autowired
		Attempts attempts;

		@Override
		@org.springframework.retry.annotation.Retryable(
				retryFor = { FencingException.class, TransientDataAccessException.class },
				noRetryFor = InvalidFencedOperationException.class, maxAttempts = 4,
				backoff = @Backoff(delay = 10, random = true))
		@FencedOperation(resource = "account:#{#id}", name = "add", waitTime = "0s")
		@Transactional
		public void add(String id) {
			this.attempts.make(id);
		}

		@Override
		@org.springframework.retry.annotation.Retryable(
				retryFor = { FencingException.class, TransientDataAccessException.class },
				noRetryFor = InvalidFencedOperationException.class, maxAttempts = 4,
				backoff = @Backoff(delay = 10, random = true))
		@FencedOperation(resource = "account:#{#id}", name = "add", waitTime = "0s")
		public void addWithoutTransaction(String id) {
			this.attempts.make(id);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	@EnableRetry
	@Import({ Attempts.class, Between.class, BySpring.class, BySpringRetry.class })
	static class Retrying {

	}

}
