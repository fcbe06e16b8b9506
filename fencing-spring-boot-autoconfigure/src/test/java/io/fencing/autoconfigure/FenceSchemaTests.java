package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is wrong with the properties of the fence table is told at start by their names.
 */
@ExtendWith(OutputCaptureExtension.class)
class FenceSchemaTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
				FencingAopAutoConfiguration.class, FencingAutoConfiguration.class))
		.withBean(LeaseCoordinator.class, () -> new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM))
		.withPropertyValues("spring.datasource.url=" + TestServers.newH2Url());

	@ParameterizedTest
	@CsvSource({ "table, bad name", "table, ''", "table, a.b.c", "table, .a", "dialect, oracle",
			"admission-timeout, PT-1S", "cleanup-interval, PT-1S", "retention, PT1H" })
	void whenPropertyIsWrongThenNamedWithItsValueAndWhatIsAllowed(String property, String value) {
		StartFailures.assertRefused(this.runner.withPropertyValues("fencing.jdbc." + property + "=" + value),
				"'fencing.jdbc." + property + "' is '" + value + "'");
	}

	@ParameterizedTest
	@CsvSource({ "platform=oracle, schema-oracle.sql", "schema=classpath:nothing.sql, nothing.sql" })
	void whenThereIsNoScriptThenThePropertiesThatNameItAreTold(String property, String script) {
		StartFailures.assertRefused(this.runner.withPropertyValues("fencing.jdbc." + property), "'fencing.jdbc.schema'",
				"'fencing.jdbc.platform'", script, "'fencing_fence' of storage 'h2' is missing");
	}

	@Test
	void whenScriptFailsThenToldUnlessTheTableIsThere(@TempDir Path directory, CapturedOutput output)
			throws IOException {
		Path script = Files.writeString(directory.resolve("fence.sql"), "CREATE TABEL fencing_fence");
		ApplicationContextRunner broken = this.runner.withPropertyValues("fencing.jdbc.schema=file:" + script);
		StartFailures.assertRefused(broken, "'fencing.jdbc.schema'", "CREATE [*]TABEL",
				"'fencing_fence' of storage 'h2' is missing");
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		broken.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).contains("the table is there and can be used");
		});
	}

}
