package io.fencing.autoconfigure;

import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

import io.fencing.FencedOperation;
import io.fencing.OperationDecision;
import io.fencing.OperationReconciler;
import io.fencing.UndecidedOperation;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What keeps operations with an identity from being recorded is told at start.
 */
@ExtendWith(OutputCaptureExtension.class)
class JournalStartTests {

	private final String url = TestServers.newH2Url();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
				FencingJournalAutoConfiguration.class, FencingAopAutoConfiguration.class,
				FencingAutoConfiguration.class))
		.withBean(LeaseCoordinator.class, () -> new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM))
		.withPropertyValues("spring.datasource.url=" + this.url);

	@ParameterizedTest
	@CsvSource({ "table, bad name", "table, ''", "timeout, PT0S", "retention, PT1H", "max-result-size, 0B",
			"reconciler.interval, PT-1S", "reconciler.after, PT0S", "reconciler.max-delay, PT1S" })
	void whenPropertyIsWrongThenNamedWithItsValue(String property, String value) {
		this.runner.withPropertyValues("fencing.journal." + property + "=" + value).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure())
				.hasStackTraceContaining("'fencing.journal." + property + "' is '" + value + "'");
		});
	}

	@Test
	void whenTableIsMissingThenRefusedWithTheScriptIfAnythingHasAnIdentity() {
		execute("DROP TABLE fencing_operation");
		ApplicationContextRunner never = this.runner.withPropertyValues("fencing.jdbc.initialize-schema=never");
		never.run((context) -> assertThat(context).hasNotFailed());
		StartFailures.assertRefused(never.withBean(Payments.class), "'fencing_operation' of the journal is missing",
				"schema-h2.sql");
		this.runner.withBean(Payments.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ALTER TABLE fencing_operation DROP CONSTRAINT fencing_operation_pk",
			"ALTER TABLE fencing_operation DROP COLUMN checks",
			"ALTER TABLE fencing_operation ADD COLUMN tenant INTEGER NOT NULL",
			"ALTER TABLE fencing_operation ALTER COLUMN owner INTEGER" })
	void whenTableIsNotWhatItMustBeThenRefused(String change) {
		execute(change);
		StartFailures.assertRefused(this.runner.withBean(Payments.class), "'fencing_operation' cannot be the journal",
				"schema-h2.sql");
	}

	@Test
	void whenNothingKeysFingerprintsThenWarnedOnceIfAnythingHasAnIdentity(CapturedOutput output) {
		this.runner.run((context) -> assertThat(output).doesNotContain("fencing.journal.fingerprint-key"));
		this.runner.withBean(Payments.class)
			.withPropertyValues("fencing.journal.fingerprint-key=secret")
			.run((context) -> assertThat(output).doesNotContain("fencing.journal.fingerprint-key"));
		this.runner.withBean(Payments.class)
			.run((context) -> assertThat(output).containsOnlyOnce("fencing.journal.fingerprint-key"));
	}

	@ParameterizedTest
	@ValueSource(classes = { Streams.class, Streamed.class, Iterators.class, Threads.class, Empties.class })
	void whenParameterCannotBeWrittenThenRefusedByItsName(Class<?> type) {
		StartFailures.assertRefused(this.runner.withBean(type), "parameter 'content'", "attribute 'input'");
	}

	@Test
	void whenInputSaysWhatCountsThenOtherParametersMayBeAnything() {
		this.runner.withBean(Chosen.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void whenTwoMethodsShareANameThenRefusedUnlessTheyAreOne() {
		StartFailures.assertRefused(this.runner.withBean(Payments.class).withBean(OtherPayments.class),
				"its name 'pay' is that of", "Payments.run");
		this.runner.withBean("one", Payments.class, Payments::new)
			.withBean("other", Payments.class, Payments::new)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void whenTwoReconcilersAreForOneOperationThenRefused() {
		StartFailures.assertRefused(
				this.runner.withBean("one", Known.class, Known::new).withBean("other", Known.class, Known::new),
				"operation 'remit'");
	}

	private void execute(String statement) {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(this.url, "sa", "");
		ResourceDatabasePopulator script = new ResourceDatabasePopulator(
				new ClassPathResource("io/fencing/jdbc/schema-h2.sql"), new ByteArrayResource(statement.getBytes()));
		DatabasePopulatorUtils.execute(script, dataSource);
	}

	static class Payments {

		@FencedOperation(resource = "a", name = "pay", operationId = "#{#id}")
		void run(String id, List<Integer> amounts, Object note, Comparable<?> key) {
		}

	}

	static class OtherPayments {

		@FencedOperation(resource = "a", name = "pay", operationId = "#{#id}")
		void run(String id) {
		}

	}

	static class Streams {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}")
		void run(String id, InputStream content) {
		}

	}

	static class Streamed {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}")
		void run(String id, Stream<String> content) {
		}

	}

	static class Iterators {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}")
		void run(String id, Iterator<String> content) {
		}

	}

	static class Threads {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}")
		void run(String id, Thread content) {
		}

	}

	static class Empties {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}")
		void run(String id, Empties content) {
		}

	}

	static class Chosen {

		@FencedOperation(resource = "a", name = "store", operationId = "#{#id}", input = "#{#id}")
		void run(String id, InputStream content) {
		}

	}

	static class Known implements OperationReconciler {

		@Override
		public String getOperation() {
			return "remit";
		}

		@Override
		public OperationDecision reconcile(UndecidedOperation operation) {
			return OperationDecision.unknown();
		}

	}

}
