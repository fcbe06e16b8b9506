package io.fencing.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.jdbc.StatementLimit.Running;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StatementLimit}.
 */
class StatementLimitTests {

	private final AtomicInteger cancelled = new AtomicInteger();

	@Test
	void whenStatementIsInTimeThenItIsLeftAlone() {
		StatementLimit limit = new StatementLimit(Duration.ofMinutes(1));
		StatementLimit late = new StatementLimit(Duration.ofMillis(-1));
		try (Running running = limit.begin(statement(this.cancelled::incrementAndGet))) {
			AtomicInteger looks = new AtomicInteger();
			try (Running other = late.begin(statement(looks::incrementAndGet))) {
				await().until(() -> looks.get() > 1);
			}
		}
		assertThat(this.cancelled).hasValue(0);
	}

	@Test
	void whenStatementIsLateThenItIsCancelledUntilItEnds() {
		StatementLimit limit = new StatementLimit(Duration.ZERO);
		try (Running running = limit.begin(statement(() -> {
			this.cancelled.incrementAndGet();
			throw new SQLException("Not now");
		}))) {
			await().until(() -> this.cancelled.get() > 1);
		}
		int before = this.cancelled.get();
		AtomicInteger looks = new AtomicInteger();
		try (Running other = limit.begin(statement(looks::incrementAndGet))) {
			await().until(() -> looks.get() > 1);
		}
		assertThat(this.cancelled).hasValue(before);
	}

	@Test
	void whenStatementEndsWhileItIsBeingCancelledThenTheNextOneWaits() throws InterruptedException {
		CountDownLatch cancelling = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		AtomicBoolean over = new AtomicBoolean();
		Running running = new StatementLimit(Duration.ZERO).begin(statement(() -> {
			cancelling.countDown();
			goOn.await(1, TimeUnit.MINUTES);
			over.set(true);
		}));
		cancelling.await();
		AtomicBoolean overBeforeTheNext = new AtomicBoolean();
		Thread next = new Thread(() -> {
			running.close();
			overBeforeTheNext.set(over.get());
		});
		next.start();
		await().until(() -> next.getState() == Thread.State.BLOCKED);
		goOn.countDown();
		next.join();
		assertThat(overBeforeTheNext).isTrue();
	}

	// as where one of the servers behind a routing DataSource is frozen
	@Test
	void whenACancellationIsNotAnsweredThenOtherStatementsAreCancelledMeanwhile() throws InterruptedException {
		StatementLimit limit = new StatementLimit(Duration.ZERO);
		CountDownLatch cancelling = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		CountDownLatch cancelledMeanwhile = new CountDownLatch(1);
		try (Running frozen = limit.begin(statement(() -> {
			cancelling.countDown();
			answer.await(1, TimeUnit.MINUTES);
		}))) {
			cancelling.await();
			try (Running other = limit.begin(statement(cancelledMeanwhile::countDown))) {
				assertThat(cancelledMeanwhile.await(30, TimeUnit.SECONDS)).isTrue();
			}
			finally {
				answer.countDown();
			}
		}
	}

	@Test
	void whenServerIsSlowThenItsStatementFailsAndTheConnectionCanBeUsed() throws SQLException {
		try (Connection connection = TestServers.newPostgres().getConnection();
				Statement statement = connection.createStatement()) {
			StatementLimit limit = new StatementLimit(Duration.ofMillis(100));
			assertThatExceptionOfType(SQLException.class).isThrownBy(() -> {
				try (Running running = limit.begin(statement)) {
					statement.execute("SELECT pg_sleep(60)");
				}
			}).satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo("57014"));
			assertThat(statement.execute("SELECT 1")).isTrue();
		}
	}

	private static Statement statement(Cancellation cancellation) {
		return (Statement) Proxy.newProxyInstance(StatementLimitTests.class.getClassLoader(),
				new Class<?>[] { Statement.class }, (proxy, method, arguments) -> {
					assertThat(method.getName()).isEqualTo("cancel");
					cancellation.run();
					return null;
				});
	}

	/**
	 * What a statement does when it is cancelled.
	 */
	@FunctionalInterface
	private interface Cancellation {

		void run() throws Exception;

	}

}
