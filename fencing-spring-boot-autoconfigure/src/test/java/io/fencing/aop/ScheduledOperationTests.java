package io.fencing.aop;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.FencingToken;
import io.fencing.OnBusy;
import io.fencing.OperationOutcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Scheduled operations that skip when another node has the tick: two nodes with one
 * schedule, on a real Redis.
 */
class ScheduledOperationTests {

	private final ApplicationContextRunner runner = FencedContextRunner.create();

	// the ticks are made by hand: as on a node whose clock is late by less than 'minHold'
	@Test
	void whenSecondNodeTicksLateThenJobIsDoneOnceForEachTick() {
		onTwoNodes(Daily.class, (node, late) -> {
			FencingToken last = new FencingToken(0, "");
			for (int tick = 1; tick <= 3; tick++) {
				tick(node);
				assertThat(keptMillis(node)).as("kept after the end").isBetween(1L, Duration.ofMinutes(10).toMillis());
				tick(late);
				assertThat(runs(node)).hasSize(tick);
				assertThat(runs(node).get(tick - 1)).isGreaterThan(last);
				last = runs(node).get(tick - 1);
				assertThat(outcomes(late)).hasSize(tick).containsOnly(OperationOutcome.SKIPPED);
				letMinHoldPass(node);
			}
			assertThat(runs(late)).isEmpty();
			tick(late);
			assertThat(runs(late)).as("the other node has gone").hasSize(1);
		});
	}

	@Test
	void whenJobThrowsThenTheNextTickRuns() {
		onTwoNodes(Daily.class, (node, other) -> {
			job(node).failing = true;
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> tick(node)).withMessage("broken");
			assertThat(outcomes(node)).containsExactly(OperationOutcome.ERROR);
			tick(other);
			assertThat(outcomes(other)).containsExactly(OperationOutcome.SKIPPED);
			letMinHoldPass(node);
			job(node).failing = false;
			tick(node);
			assertThat(outcomes(node)).containsExactly(OperationOutcome.ERROR, OperationOutcome.SUCCESS);
		});
	}

	// virtual threads exist from Java 21 on; before it Spring Boot ignores the property
	@ParameterizedTest
	@ValueSource(strings = { "false", "true" })
	void whenNodesTickByThemselvesThenRunsNeverOverlapAndNothingIsThrown(String virtual) {
		onTwoNodes(Frequent.class, (node, other) -> {
			AtomicInteger running = new AtomicInteger();
			Set<Integer> seen = ConcurrentHashMap.newKeySet();
			Callable<?> body = () -> {
				seen.add(running.incrementAndGet());
				// long enough to meet another one
				new CountDownLatch(1).await(10, TimeUnit.MILLISECONDS);
				return running.decrementAndGet();
			};
			job(node).body.set(body);
			job(other).body.set(body);
			// which of the nodes is the faster one is chance
			await().atMost(Duration.ofSeconds(30))
				.until(() -> tokens(node, other).size() > 5
						&& Stream.of(node, other).anyMatch((one) -> outcomes(one).contains(OperationOutcome.SKIPPED)));
			assertThat(seen).containsExactly(1);
			assertThat(List.of(outcomes(node), outcomes(other))).allSatisfy(
					(outcomes) -> assertThat(outcomes).isSubsetOf(OperationOutcome.SUCCESS, OperationOutcome.SKIPPED));
			assertThat(tokens(node, other)).doesNotHaveDuplicates();
		}, "spring.threads.virtual.enabled=" + virtual);
	}

	private void onTwoNodes(Class<?> job, NodesTest test, String... properties) {
		ApplicationContextRunner one = this.runner.withUserConfiguration(job, Scheduling.class)
			.withPropertyValues(properties);
		one.run((node) -> {
			assertThat(node).hasNotFailed();
			one.run((other) -> test.run(node, other));
		});
	}

	private static void tick(ApplicationContext node) {
		node.getBean(ScheduledTaskHolder.class)
			.getScheduledTasks()
			.forEach((task) -> task.getTask().getRunnable().run());
	}

	private static long keptMillis(ApplicationContext node) {
		return FencedContextRunner.console().remainingMillis(FencedContextRunner.leaseKey(node, "daily"));
	}

	private static void letMinHoldPass(ApplicationContext node) {
		FencedContextRunner.console().send("DEL " + FencedContextRunner.leaseKey(node, "daily"));
	}

	private static Job job(ApplicationContext node) {
		return AopTestUtils.getTargetObject(node.getBean(Job.class));
	}

	private static List<FencingToken> runs(ApplicationContext node) {
		return job(node).runs;
	}

	private static List<FencingToken> tokens(ApplicationContext... nodes) {
		return Stream.of(nodes).flatMap((node) -> runs(node).stream()).collect(Collectors.toList());
	}

	private static List<OperationOutcome> outcomes(ApplicationContext node) {
		return node.getBean(Outcomes.class).seen;
	}

	/** What is to be tried on two nodes. */
	@FunctionalInterface
	interface NodesTest {

		void run(ApplicationContext node, ApplicationContext other) throws Exception;

	}

	/** Remembers how operations ended. */
	static class Outcomes implements FencingListener {

		private final List<OperationOutcome> seen = new CopyOnWriteArrayList<>();

		@Override
		public void onFinished(String operation, OperationOutcome outcome, Duration took) {
			this.seen.add(outcome);
		}

	}

	/** A job of a node. */
	abstract static class Job {

		private final List<FencingToken> runs = new CopyOnWriteArrayList<>();

		private final AtomicReference<Callable<?>> body = new AtomicReference<>(() -> null);

		private volatile boolean failing;

		void work() throws Exception {
			this.runs.add(FencingContext.required().getToken());
			this.body.get().call();
			if (this.failing) {
				throw new IllegalStateException("broken");
			}
		}

	}

	static class Daily extends Job {

		@Scheduled(fixedRate = 24, initialDelay = 24, timeUnit = TimeUnit.HOURS)
		@FencedOperation(resource = "daily", waitTime = "0s", minHold = "10m", onBusy = OnBusy.SKIP)
		void run() throws Exception {
			work();
		}

	}

	static class Frequent extends Job {

		@Scheduled(fixedRate = 5)
		@FencedOperation(resource = "frequent", waitTime = "0s", onBusy = OnBusy.SKIP)
		void run() throws Exception {
			work();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@Import(Outcomes.class)
	static class Scheduling {

	}

}
