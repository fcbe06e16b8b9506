package io.fencing.calling;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.fencing.FencingListener;
import io.fencing.HeldResource;
import io.fencing.OperationOutcome;
import io.fencing.autoconfigure.FencingAopAutoConfiguration;
import io.fencing.autoconfigure.FencingAutoConfiguration;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Whatever shape the annotated code has, either it is fenced as written or the start says
 * by name why it cannot be. docs/calling.md ends with what became of each.
 */
class CallingShapesTests {

	private static final List<Outcome> OUTCOMES = new ArrayList<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, FencingAutoConfiguration.class,
				FencingAopAutoConfiguration.class))
		.withUserConfiguration(Leases.class);

	static Stream<Shape> shapes() {
		return Stream
			.of(CodeShapes.list(), KotlinCodeShapes.list(), BeanShapes.list(), CallerShapes.list(),
					AttributeShapes.list(), PlumbingShapes.list())
			.flatMap(List::stream);
	}

	// cases 03, 39, 45, 46, 48, 49
	@ParameterizedTest
	@MethodSource("shapes")
	void whenShapeIsCalledThenFencedOrRefusedByName(Shape shape) {
		Seen.forget();
		shape.setup().apply(this.runner).run((context) -> OUTCOMES.add(outcome(shape, context)));
	}

	// the bean method gives out a proxy, which is proxied once more
	@Test
	void whenFencedBeanHasAnotherNameThenItsLeaseIsTakenOnce() {
		this.runner.withUserConfiguration(OtherName.class).run((context) -> {
			assertThat(context.getBean("other", CodeShapes.Accounts.class).withdraw("42")).isEqualTo("account:42");
			assertThat(context.getBean(SeenLeases.class).acquired).containsExactly("account:42");
		});
	}

	private static Outcome outcome(Shape shape, AssertableApplicationContext context) {
		if (context.getStartupFailure() != null) {
			return refused(shape, "refused at start", context.getStartupFailure());
		}
		Object answer;
		try {
			answer = shape.call().apply(context);
		}
		catch (ApplicationContextException ex) {
			return refused(shape, "refused at start", ex);
		}
		catch (RuntimeException ex) {
			assertThatException().as("the next one is refused as well").isThrownBy(() -> shape.call().apply(context));
			return refused(shape, "refused when created", ex);
		}
		String seen = (answer instanceof String text) ? text : Seen.last();
		if (context.containsBean("seenLeases")) {
			SeenLeases leases = context.getBean(SeenLeases.class);
			if (!leases.acquired.isEmpty()) {
				assertThat(leases.acquired).as("leased once").containsExactly("account:42");
				assertThat(leases.finished).as("one operation").hasSize(1);
				assertThat(seen).isIn("account:42", null);
				return new Outcome(shape, "fenced", "");
			}
		}
		assertThat(seen).isEqualTo("nothing");
		assertThat(shape.unfenced()).as("unfenced on purpose").isNotEmpty();
		return new Outcome(shape, "not fenced", shape.unfenced());
	}

	private static Outcome refused(Shape shape, String kind, Throwable failure) {
		FailureAnalysis analysis = analyze(failure);
		assertThat(analysis).as("%s", failure).isNotNull();
		assertThat(Seen.last()).as("the body has not run").isIn(null, "account:42");
		String message = analysis.getCause().getMessage();
		assertThat(message).startsWith(ofNoBean(shape) ? "" : "Bean '").contains(ofNoBean(shape) ? "" : "method '");
		assertThat(analysis.getDescription() + analysis.getAction()).hasSize(message.length());
		int start = ofNoBean(shape) ? 0 : message.indexOf("': ") + 3;
		return new Outcome(shape, kind, message.substring(start));
	}

	private static boolean ofNoBean(Shape shape) {
		return shape.name().contains("names no operation") || shape.name().contains("makes the lease too short");
	}

	private static FailureAnalysis analyze(Throwable failure) {
		return SpringFactoriesLoader.forDefaultResourceLocation(null)
			.load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {
			}))
			.stream()
			.map((analyzer) -> analyzer.analyze(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	@AfterAll
	static void checkDocumentation() throws IOException {
		StringBuilder table = new StringBuilder();
		String section = "";
		for (Outcome outcome : OUTCOMES) {
			if (!section.equals(outcome.shape().section())) {
				section = outcome.shape().section();
				table.append("\n| " + section + " | outcome | why |\n| --- | --- | --- |\n");
			}
			table.append("| " + outcome.shape().name() + " | " + outcome.kind() + " | " + outcome.why() + " |\n");
		}
		Path generated = Path.of("target", "calling-shapes.md");
		Files.createDirectories(generated.getParent());
		Files.writeString(generated, table);
		assertThat(Files.readString(Path.of("..", "docs", "calling.md")))
			.as("docs/calling.md ends with what %s has", generated)
			.endsWith(table);
	}

	/** What became of a shape. */
	record Outcome(Shape shape, String kind, String why) {
	}

	/** Leases in memory. */
	@Configuration(proxyBeanMethods = false)
	static class Leases {

		@Bean
		LeaseCoordinator leaseCoordinator() {
			return new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
		}

		@Bean
		SeenLeases seenLeases() {
			return new SeenLeases();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherName {

		@Bean
		CodeShapes.Implementing accounts() {
			return new CodeShapes.Implementing();
		}

		@Bean
		CodeShapes.Accounts other(CodeShapes.Implementing accounts) {
			return accounts;
		}

	}

	static class SeenLeases implements FencingListener {

		private final List<String> acquired = new CopyOnWriteArrayList<>();

		private final List<String> finished = new CopyOnWriteArrayList<>();

		@Override
		public void onAcquired(String operation, HeldResource held, Duration waited) {
			this.acquired.add(held.getResource().getName());
		}

		@Override
		public void onFinished(String operation, OperationOutcome outcome, Duration took) {
			this.finished.add(operation);
		}

	}

}
