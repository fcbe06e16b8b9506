package io.fencing.aop;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.fencing.aop.AdvisedBeans.All;
import io.fencing.aop.AdvisedBeans.Cached;
import io.fencing.aop.AdvisedBeans.Checked;
import io.fencing.aop.AdvisedBeans.Everything;
import io.fencing.aop.AdvisedBeans.Handed;
import io.fencing.aop.AdvisedBeans.Leases;
import io.fencing.aop.AdvisedBeans.Limited;
import io.fencing.aop.AdvisedBeans.Measured;
import io.fencing.aop.AdvisedBeans.Noted;
import io.fencing.aop.AdvisedBeans.NotingAspect;
import io.fencing.aop.AdvisedBeans.Retried;
import io.fencing.aop.AdvisedBeans.RetriedByLibrary;
import io.fencing.aop.AdvisedBeans.Secured;
import io.fencing.aop.AdvisedBeans.SecuredLate;
import io.fencing.aop.AdvisedBeans.Transacting;
import io.fencing.autoconfigure.LedgerApplication;
import io.fencing.testing.TestServers;
import jakarta.validation.ConstraintViolationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.aspectj.AbstractAspectJAdvice;
import org.springframework.aop.framework.Advised;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAspectsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.test.util.AopTestUtils;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Where the advice of others stands in an application of Spring Boot, and what it does
 * there: each alone, and all at once.
 */
class AdviceOrderTests {

	private static final String FENCE = "FencedOperationAspect";

	private static final List<Row> ROWS = List.of(
			outside("`@Async`", Handed.class, "AnnotationAsyncExecutionInterceptor",
					"the body's thread has the lease, the caller's has none"),
			outside("`@ConcurrencyLimit`", Limited.class, "ConcurrencyLimitInterceptor",
					"callers wait for their turn before they take the lease"),
			outside("`@Retryable` of Spring", Retried.class, "RetryAnnotationInterceptor",
					"each attempt has a lease, a token and a transaction of its own"),
			outside("`@Retryable` of spring-retry", RetriedByLibrary.class, "AnnotationAwareRetryOperationsInterceptor",
					"each attempt has a lease, a token and a transaction of its own"),
			outside("`@PreAuthorize`", Secured.class, "DeferringMethodInterceptor",
					"callers that are denied take no lease"),
			outside("`@PostAuthorize`", SecuredLate.class, "DeferringMethodInterceptor",
					"callers are denied what has been done and committed already"),
			new Row("`@Transactional`", Transacting.class, "TransactionInterceptor",
					"the lease is kept until after the commit", "refused at start"),
			new Row("`@Cacheable`", Cached.class, "CacheInterceptor",
					"an answer from the cache takes the lease, which is told at start",
					"told at start: what is put may be older than what is there"),
			new Row("`@Validated`", Checked.class, "MethodValidationInterceptor",
					"arguments that are refused take the lease, which is told at start", "as you like"),
			new Row("`@Observed`, `@Timed`", Measured.class, "observedAspect",
					"measures the body; `fencing.operation` measures the whole call", "as you like"),
			new Row("an `@Aspect` without an order", Noted.class, "NotingAspect",
					"runs with the lease; before or after the transaction starts is not defined", "as you like"));

	private static ConfigurableApplicationContext application;

	private final ApplicationContextRunner runner = FencedContextRunner.create()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				CacheAutoConfiguration.class, ValidationAutoConfiguration.class, ObservationAutoConfiguration.class,
				MetricsAutoConfiguration.class, MetricsAspectsAutoConfiguration.class,
				SimpleMetricsExportAutoConfiguration.class))
		.withPropertyValues("spring.cache.type=simple", "spring.datasource.url=" + TestServers.newH2Url(),
				"management.observations.annotations.enabled=true");

	@BeforeAll
	static void start() {
		application = LedgerApplication.startOn(TestServers.newH2Url(),
				"spring.main.sources=" + Everything.class.getName(), "spring.cache.type=simple",
				"management.observations.annotations.enabled=true");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@AfterEach
	void forget() {
		SecurityContextHolder.clearContext();
		acquired().clear();
	}

	@Test
	void whenEverythingIsAppliedAtOnceThenRetryIsOutsideAndTransactionInside() {
		List<String> names = chain(application.getBean(All.class)).stream().map(AdviceOrderTests::name).toList();
		int fence = names.indexOf(FENCE);
		assertThat(names.subList(0, fence)).containsExactly("AnnotationAsyncExecutionInterceptor",
				"ConcurrencyLimitInterceptor", "RetryAnnotationInterceptor", "DeferringMethodInterceptor",
				"DeferringMethodInterceptor", "AnnotationAwareRetryOperationsInterceptor");
		assertThat(names.subList(fence + 1, names.size())).containsExactlyInAnyOrder("TransactionInterceptor",
				"CacheInterceptor", "NotingAspect", "observedAspect", "timedAspect", "MethodValidationInterceptor");
	}

	@Test
	void whenEachIsAppliedAloneThenItStandsWhereTheDocumentationSays() throws IOException {
		StringBuilder table = new StringBuilder("""
				| advice | stands | what happens there | on the other side |
				| --- | --- | --- | --- |
				""");
		for (Row row : ROWS) {
			table.append(row.text(stands(row)));
		}
		Path generated = Path.of("target", "other-advice.md");
		Files.createDirectories(generated.getParent());
		Files.writeString(generated, table);
		assertThat(Files.readString(Path.of("..", "docs", "calling.md")))
			.as("docs/calling.md has what %s has", generated)
			.contains(table);
	}

	private static Row outside(String label, Class<?> bean, String advice, String happens) {
		return new Row(label, bean, advice, happens, "");
	}

	private Standing stands(Row row) {
		List<Standing> standings = new ArrayList<>();
		Consumer<Object> look = (bean) -> standings.add(Standing.of(chain(bean), row.advice()));
		this.runner.withUserConfiguration(row.bean()).run((context) -> {
			assertThat(context).hasNotFailed();
			look.accept(context.getBean(row.bean()));
		});
		look.accept(application.getBean(row.bean()));
		assertThat(standings.get(0)).as("%s alone and among all", row).isEqualTo(standings.get(1));
		return standings.get(0);
	}

	@Test
	void whenCallerIsDeniedThenNoLeaseIsTaken() {
		Secured secured = application.getBean(Secured.class);
		login("ROLE_GUEST");
		assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(secured::run);
		assertThat(acquired()).isEmpty();
		login("ROLE_CLERK");
		secured.run();
		assertThat(acquired()).containsExactly("Secured.run");
	}

	@Test
	void whenResultIsDeniedThenWorkHasBeenCommitted() {
		SecuredLate secured = application.getBean(SecuredLate.class);
		login("ROLE_GUEST");
		assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(secured::run);
		assertThat(acquired()).containsExactly("SecuredLate.run");
	}

	@Test
	void whenTransactionCommitsThenTheLeaseIsThere() {
		assertThat(application.getBean(Transacting.class).run()).containsExactly("committed by Transacting.run");
	}

	@Test
	void whenAnswerIsCachedOrArgumentRefusedThenLeaseIsTaken() {
		Cached cached = application.getBean(Cached.class);
		assertThat(cached.run()).isEqualTo(cached.run());
		assertThat(acquired()).containsExactly("Cached.run", "Cached.run");
		assertThatExceptionOfType(ConstraintViolationException.class)
			.isThrownBy(() -> application.getBean(Checked.class).run(null));
		assertThat(acquired()).endsWith("Checked.run");
	}

	@Test
	void whenCallerWaitsForItsTurnThenItHasNoLease() throws Exception {
		Limited limited = application.getBean(Limited.class);
		Limited target = AopTestUtils.getTargetObject(limited);
		Thread first = thread(() -> limited.run("first"));
		assertThat(target.entered.await(10, TimeUnit.SECONDS)).isTrue();
		Thread second = thread(() -> limited.run("second"));
		await().until(() -> second.getState() == Thread.State.WAITING);
		assertThat(acquired()).containsExactly("Limited.run");
		target.leave.countDown();
		first.join();
		second.join();
		assertThat(acquired()).containsExactly("Limited.run", "Limited.run");
	}

	@Test
	void whenAspectHasNoOrderThenItRunsWithTheLease() {
		application.getBean(Noted.class).run();
		assertThat(application.getBean(NotingAspect.class).notes).containsExactly("Noted.run");
	}

	private static Thread thread(ThrowingRunnable task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
		thread.start();
		return thread;
	}

	private static void login(String role) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("somebody", "", role));
	}

	private static List<String> acquired() {
		return application.getBean(Leases.class).acquired;
	}

	private static List<Advisor> chain(Object bean) {
		Advised advised = (Advised) bean;
		Class<?> target = advised.getTargetClass();
		Method method = Arrays.stream(target.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals("run"))
			.findFirst()
			.orElseThrow();
		return Arrays.stream(advised.getAdvisors())
			.filter((advisor) -> advisor instanceof PointcutAdvisor pointcut
					&& pointcut.getPointcut().getMethodMatcher().matches(method, target))
			.filter((advisor) -> !name(advisor).equals("ExposeInvocationInterceptor"))
			.toList();
	}

	private static String name(Advisor advisor) {
		return (advisor.getAdvice() instanceof AbstractAspectJAdvice advice)
				? StringUtils.unqualify(advice.getAspectName(), '$') : advisor.getAdvice().getClass().getSimpleName();
	}

	/** A task that may fail. */
	@FunctionalInterface
	interface ThrowingRunnable {

		void run() throws Exception;

	}

	/** An advice, the bean that has it, and what happens where it stands. */
	record Row(String label, Class<?> bean, String advice, String happens, String elsewhere) {

		String text(Standing standing) {
			return "| " + this.label + " | " + (standing.inside() ? "inside" : "outside") + " | " + this.happens + " | "
					+ standing.elsewhere(this.elsewhere) + " |\n";
		}

	}

	/** Whether an advice stands inside of the fence, and of what kind it is. */
	record Standing(boolean inside, AdviceKind kind) {

		static Standing of(List<Advisor> chain, String advice) {
			List<String> names = chain.stream().map(AdviceOrderTests::name).toList();
			assertThat(names).contains(FENCE, advice);
			int index = names.indexOf(advice);
			return new Standing(index > names.indexOf(FENCE), AdviceKind.of(chain.get(index).getAdvice()));
		}

		String elsewhere(String text) {
			if (this.inside) {
				return text;
			}
			return this.kind.isRefusedInside() ? "refused at start" : "told at start";
		}

	}

}
