package io.fencing.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

import io.fencing.FencedOperation;
import io.fencing.FencedOperationRequest;
import io.fencing.InvalidFencedOperationException;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.operation.OperationSettingsSource;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Settings of single operations in application.yml: how a name is written there, and that
 * what they make of an annotation is checked at start.
 */
class OperationPropertiesTests {

	private static final String KNOWN = "[Accounts.close, payOut, refund, withdraw-all]";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, FencingAutoConfiguration.class,
				FencingAopAutoConfiguration.class))
		.withBean(LeaseCoordinator.class, () -> new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM))
		.withBean(Accounts.class);

	@ParameterizedTest
	@CsvSource({ "withdraw-all, withdraw-all", "payOut, payOut", "[Accounts.close], Accounts.close",
			"[withdraw-all], withdraw-all" })
	void whenNameIsWrittenAsItIsThenItApplies(String key, String operation) {
		String yml = "fencing:\n  operations:\n    \"" + key + "\":\n      wait-time: 7s\n";
		for (ApplicationContextRunner each : new ApplicationContextRunner[] {
				this.runner.withPropertyValues(
						"fencing.operations" + (key.startsWith("[") ? "" : ".") + key + ".wait-time=7s"),
				this.runner.withInitializer(
						(context) -> context.getEnvironment().getPropertySources().addFirst(yaml(yml))) }) {
			each.run((context) -> assertThat(context.getBean(OperationSettingsSource.class)
				.resolve(FencedOperationRequest.of(operation, "a"))
				.waitTime()).hasSeconds(7));
		}
	}

	// a name is no property: no other spelling of it counts, and none is ignored
	@ParameterizedTest
	@ValueSource(strings = { "withdrawAll", "withdraw_all", "WITHDRAW-ALL", "pay-out", "payout", "[accounts.close]",
			"accounts" })
	void whenNameIsSpelledOtherwiseThenTheStartSaysWhatIsKnown(String key) {
		this.runner.withPropertyValues("fencing.operations" + (key.startsWith("[") ? "" : ".") + key + ".wait-time=7s")
			.run((context) -> assertThat(message(context)).contains(KNOWN, "brackets"));
	}

	@Test
	void whenOperationIsInAParentContextThenItsNameIsKnownInTheChild() {
		String property = "fencing.operations.withdraw-all.wait-time=7s";
		this.runner.withPropertyValues(property)
			.run((parent) -> new ApplicationContextRunner()
				.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, FencingAutoConfiguration.class,
						FencingAopAutoConfiguration.class))
				.withPropertyValues(property)
				.withParent(parent)
				.run((context) -> assertThat(context).hasNotFailed()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "Accounts.close.wait-time=7s", "Accounts.close.mode=off", "refund.wait-tme=7s",
			"refund.lease.time=7s", "nobody.knows.this=7" })
	void whenPropertyWouldBeIgnoredThenTheStartFails(String property) {
		String name = "fencing.operations." + property.substring(0, property.indexOf('='));
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(yaml("\"" + name + "\": " + property.substring(property.indexOf('=') + 1))))
			.run((context) -> assertThat(message(context)).containsIgnoringCase(name).contains("in brackets"));
		this.runner.withPropertyValues("fencing.operations." + property)
			.run((context) -> assertThat(message(context)).containsIgnoringCase(name).contains("in brackets"));
	}

	// an environment variable has no case, dash or bracket: it reaches lower-case names
	// only
	@Test
	void whenEnvironmentVariableNamesAnOperationThenOnlyInLowerCase() {
		environment("FENCING_OPERATIONS_REFUND_WAITTIME")
			.run((context) -> assertThat(context.getBean(OperationSettingsSource.class)
				.resolve(FencedOperationRequest.of("refund", "a"))
				.waitTime()).hasSeconds(7));
		environment("FENCING_OPERATIONS_WITHDRAWALL_WAITTIME")
			.run((context) -> assertThat(message(context)).contains("'fencing.operations.withdrawall'", KNOWN));
	}

	private ApplicationContextRunner environment(String variable) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					Map.of(variable, "7s"))));
	}

	// the annotation says leaseTime = 2m and minHold = ${min}
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', value = {
			"fencing.operations.withdraw-all.max-hold=1m | 'max-hold' (PT1M) is shorter than the lease time (PT2M)",
			"fencing.lease.max-hold=90s | 'max-hold' (PT1M30S) is shorter than the lease time (PT2M)",
			"fencing.operations.withdraw-all.lease-time=30ms | no room for three renewals",
			"fencing.operations.withdraw-all.lease-time=20m | 'max-hold' (PT15M) is shorter",
			"fencing.operations.withdraw-all.max-hold=7d | is not shorter than the time that tokens are remembered (PT168H)",
			"fencing.operations.withdraw-all.wait-time=-1s | is negative",
			"fencing.operations.withdraw-all.wait-time=400d | longer than 366 days",
			"min=16m | 'min-hold' (PT16M) is longer than 'max-hold' (PT15M)", "min=16 | 'minHold' is '16'",
			"min=soon | 'minHold' is 'soon'", "min=${nowhere} | has no value" })
	void whenMergedValuesDoNotGoTogetherThenTheStartFails(String property, String message) {
		this.runner.withPropertyValues("min=1s")
			.withPropertyValues(property)
			.run((context) -> assertThat(message(context)).contains("withdraw", message));
	}

	@Test
	void whenDefaultIsNegativeThenTheStartFails() {
		this.runner.withPropertyValues("min=1s", "fencing.lease.wait-in-transaction=-1s")
			.run((context) -> assertThat(message(context)).contains("'fencing.lease.*'", "is negative"));
	}

	// of a programmatic one only what no request can mend
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			value = { "max-hold=1s | lease-time=2s | 'max-hold' (PT1S) is shorter",
					"min-hold=3s | max-hold=2s | 'min-hold' (PT3S) is longer",
					"lease-time=30ms | renew=true | three renewals",
					"max-hold=8d | renew=false | tokens are remembered" })
	void whenValuesOfAProgrammaticOperationContradictEachOtherThenTheStartFails(String one, String other,
			String message) {
		String prefix = "fencing.operations.close-day.";
		this.runner.withPropertyValues(prefix + "programmatic=true", prefix + one, prefix + other)
			.run((context) -> assertThat(message(context)).contains("'fencing.operations.close-day'", message));
		this.runner.withPropertyValues(prefix + "programmatic=true", prefix + "lease-time=20m")
			.run((context) -> assertThat(context.getBean(OperationSettingsSource.class)
				.resolve(FencedOperationRequest.builder("close-day").resource("a").maxHold(Duration.ofHours(1)).build())
				.leaseTime()).hasMinutes(20));
	}

	private static String message(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		assertThat(failure).isNotNull();
		InvalidFencedOperationException refusal = null;
		for (Throwable ex = failure; ex != null && refusal == null; ex = ex.getCause()) {
			refusal = (ex instanceof InvalidFencedOperationException found) ? found : null;
		}
		assertThat(refusal).as("%s", failure).isNotNull();
		return refusal.getMessage();
	}

	private static PropertySource<?> yaml(String text) {
		try {
			return new YamlPropertySourceLoader()
				.load("yml", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)))
				.get(0);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Operations with names of all kinds.
	 */
	static class Accounts {

		@FencedOperation(resource = "a", name = "withdraw-all", leaseTime = "2m", minHold = "${min:1s}")
		void withdrawAll() {
		}

		@FencedOperation(resource = "a", name = "payOut")
		void payOut() {
		}

		@FencedOperation(resource = "a", name = "refund")
		void refund() {
		}

		@FencedOperation("a")
		void close() {
		}

	}

}
