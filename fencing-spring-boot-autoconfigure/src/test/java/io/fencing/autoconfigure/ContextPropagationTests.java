package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.LeaseLostException;
import io.fencing.context.FencingContextAccessor;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How the context of an operation reaches other threads.
 */
class ContextPropagationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, FencingAutoConfiguration.class,
				FencingContextAutoConfiguration.class))
		.withBean(LeaseCoordinator.class, () -> new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM));

	@Test
	void whenNotAskedThenNothingCarriesTheContext() {
		this.runner.run((context) -> {
			assertThat(call(context, () -> executor(context).submit(FencingContext::current).get())).isNull();
			assertThat(ContextRegistry.getInstance().getThreadLocalAccessors())
				.noneMatch(FencingContextAccessor.class::isInstance);
		});
	}

	@Test
	void whenTasksAreAskedForThenExecutorsOfBootCarryTheContextAndLeaveNothing() {
		this.runner.withPropertyValues("fencing.context.propagation=tasks", "spring.task.execution.pool.core-size=1")
			.run((context) -> {
				call(context, () -> {
					FencingToken token = FencingContext.required().getToken();
					assertThat(executor(context).submit(() -> FencingContext.required().getToken()).get())
						.isEqualTo(token);
					return null;
				});
				assertThat(executor(context).submit(FencingContext::current).get()).isNull();
			});
	}

	@Test
	void whenTaskStartsAfterItsOperationThenItIsRefused() {
		this.runner.withPropertyValues("fencing.context.propagation=tasks").run((context) -> {
			CompletableFuture<Void> operationOver = new CompletableFuture<>();
			FutureTask<String> task = new FutureTask<>(() -> "ran");
			CompletableFuture<Throwable> failure = new CompletableFuture<>();
			call(context, () -> {
				Runnable carried = FencingContext.required().wrap(task);
				operationOver.whenComplete((result, thrown) -> {
					try {
						carried.run();
					}
					catch (LeaseLostException ex) {
						failure.complete(ex);
					}
				});
				return null;
			});
			operationOver.complete(null);
			assertThat(failure.get(10, TimeUnit.SECONDS)).hasMessageContaining("operation has ended");
			assertThat(task).isNotDone();
		});
	}

	@Test
	void whenMicrometerIsAskedForThenSnapshotsCarryTheContextUntilTheApplicationStops() {
		this.runner.withPropertyValues("fencing.context.propagation=micrometer").run((context) -> {
			ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();
			ContextSnapshot snapshot = call(context, () -> {
				ContextSnapshot captured = snapshots.captureAll();
				FencingToken token = FencingContext.required().getToken();
				assertThat(onOtherThread(captured.wrap(() -> FencingContext.required().getToken()))).isEqualTo(token);
				assertThat(onOtherThread(() -> {
					captured.wrap(() -> {
					}).run();
					return FencingContext.current();
				})).isNull();
				return captured;
			});
			assertThatExceptionOfType(LeaseLostException.class)
				.isThrownBy(() -> snapshot.wrap(() -> FencingContext.required().checkHeld()).run());
		});
		assertThat(ContextRegistry.getInstance().getThreadLocalAccessors())
			.noneMatch(FencingContextAccessor.class::isInstance);
	}

	@Test
	void whenMicrometerIsAskedForThenReactorCarriesTheContextAndLeavesNothing() {
		this.runner.withPropertyValues("fencing.context.propagation=micrometer").run((context) -> {
			Scheduler scheduler = Schedulers.newSingle("reactor");
			call(context, () -> {
				assertThat(Mono.just("start")
					.publishOn(scheduler)
					.<FencingToken>handle((start, sink) -> sink.next(FencingContext.required().getToken()))
					.contextCapture()
					.block(Duration.ofSeconds(10))).isEqualTo(FencingContext.required().getToken());
				assertThat(Mono.fromCallable(() -> FencingContext.current() == null)
					.subscribeOn(scheduler)
					.block(Duration.ofSeconds(10))).isTrue();
				return null;
			});
			scheduler.dispose();
		});
	}

	private static <T> T onOtherThread(Callable<T> task) throws Exception {
		FutureTask<T> future = new FutureTask<>(task);
		new Thread(future, "other").start();
		return future.get(10, TimeUnit.SECONDS);
	}

	private static <T> T call(ApplicationContext context, FencedOperations.FencedBody<T, Exception> body)
			throws Exception {
		return context.getBean(FencedOperations.class).call(FencedOperationRequest.of("work", "a"), body);
	}

	private static AsyncTaskExecutor executor(ApplicationContext context) {
		return context.getBean(AsyncTaskExecutor.class);
	}

}
