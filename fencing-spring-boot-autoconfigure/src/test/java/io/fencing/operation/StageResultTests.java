package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseLostException;
import io.fencing.LossReason;
import io.fencing.OnBusy;
import io.fencing.OperationOutcome;
import io.fencing.context.OperationContext;
import io.fencing.fence.FencingMode;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryFence;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Operations whose body returns a stage that is completed later, on another thread.
 */
class StageResultTests {

	private final InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);

	private final List<OperationOutcome> outcomes = new CopyOnWriteArrayList<>();

	private final FencingListeners listeners = new FencingListeners(List.of(new FencingListener() {

		@Override
		public void onFinished(String operation, OperationOutcome outcome, Duration took) {
			StageResultTests.this.outcomes.add(outcome);
		}

	}));

	private final DefaultLeaseManager leases = new DefaultLeaseManager(this.coordinator, this.listeners,
			MonotonicClock.SYSTEM, Duration.ofSeconds(2));

	private final FencedResourceFactory resources = new FencedResourceFactory("default", "test");

	private final CompletableFuture<String> work = new CompletableFuture<>();

	private FencingContext context;

	@AfterEach
	void close() {
		this.leases.close();
		assertThat(FencingContext.current()).isNull();
	}

	@Test
	void whenStageRunsThenLeaseAndContextLastUntilItCompletes() throws Exception {
		CompletableFuture<String> result = start();
		assertThat(FencingContext.current()).isNull();
		assertThat(isTaken()).isTrue();
		assertThat(this.outcomes).isEmpty();
		assertThat(onOtherThread(this.context.wrap(() -> FencingContext.required().getToken())))
			.isEqualTo(this.context.getToken());
		assertThat(result).isNotDone();
		this.work.complete("done");
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isTaken()).isFalse();
		assertThat(this.outcomes).containsExactly(OperationOutcome.SUCCESS);
	}

	@Test
	void whenStageIsCompleteThenOperationHasEndedWhenItIsReturned() {
		this.work.complete("done");
		assertThat(start()).isCompletedWithValue("done");
		assertThat(isTaken()).isFalse();
		assertThat(this.outcomes).containsExactly(OperationOutcome.SUCCESS);
	}

	@Test
	void whenStageFailsThenFailureIsUnchanged() {
		CompletableFuture<String> result = start();
		IllegalStateException failure = new IllegalStateException("from the body");
		this.work.completeExceptionally(failure);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(failure));
		assertThat(isTaken()).isFalse();
		assertThat(this.outcomes).containsExactly(OperationOutcome.ERROR);
	}

	@Test
	void whenRefusedMeanwhileThenRefusalRanksAboveTheResult() throws Exception {
		CompletableFuture<String> result = start();
		OperationContext running = (OperationContext) this.context;
		LeaseLostException refusal = running
			.refuse(new LeaseLostException("test", running.getHeld().get(0), LossReason.DEADLINE));
		this.work.complete("done");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.satisfies((ex) -> assertThat(ex.getCause()).isSameAs(refusal));
		assertThat(this.outcomes).containsExactly(OperationOutcome.LOST);
	}

	@Test
	void whenCancelledThenWorkIsCancelledAndLeaseGivenBack() {
		CompletableFuture<String> result = start();
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.work).isCancelled();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::join);
		await().untilAsserted(() -> assertThat(isTaken()).isFalse());
		await().untilAsserted(() -> assertThat(this.outcomes).containsExactly(OperationOutcome.ERROR));
	}

	@Test
	void whenCallerHasWaitedLongEnoughThenLeaseIsKeptUntilTheWorkIsDone() {
		CompletableFuture<String> result = start().orTimeout(1, TimeUnit.MILLISECONDS);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.withCauseInstanceOf(TimeoutException.class);
		assertThat(isTaken()).isTrue();
		this.work.complete("late");
		await().untilAsserted(() -> assertThat(isTaken()).isFalse());
	}

	@Test
	void whenTaskOutlivesItsOperationThenItIsRefused() throws Exception {
		CompletableFuture<String> result = start();
		this.work.complete("done");
		result.get(10, TimeUnit.SECONDS);
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(this.context::checkHeld)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LossReason.ENDED));
		assertThat(this.context.isLost()).isTrue();
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(this.context.wrap(() -> {
		})::run).satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LossReason.ENDED));
	}

	@Test
	void whenStageComesFromANestedCallThenTheOuterOneKeepsTheLease() throws Exception {
		FencedOperationExecutor executor = executor();
		CompletableFuture<String> result = executor.call(request(),
				() -> executor.call(request(), () -> this.work).thenApply((value) -> value + "!"));
		assertThat(isTaken()).isTrue();
		this.work.complete("done");
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done!");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void whenEndOfResultCannotBeToldThenRefused() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> executor().call(request(), () -> new FutureTask<>(() -> "later")))
			.withMessageContaining("CompletionStage");
		assertThat(isTaken()).isFalse();
	}

	private CompletableFuture<String> start() {
		return executor().call(request(), () -> {
			this.context = FencingContext.required();
			return this.work;
		});
	}

	private static <T> T onOtherThread(Callable<T> task) throws Exception {
		FutureTask<T> future = new FutureTask<>(task);
		new Thread(future, "other").start();
		return future.get(10, TimeUnit.SECONDS);
	}

	private boolean isTaken() {
		return this.coordinator.isTaken(this.resources.create("a"));
	}

	private static FencedOperationRequest request() {
		return FencedOperationRequest.of("test", "a");
	}

	private FencedOperationExecutor executor() {
		OperationSettings defaults = new OperationSettings(FencingMode.ENFORCE, Duration.ofSeconds(30), Duration.ZERO,
				Duration.ZERO, Duration.ofMinutes(15), Duration.ZERO, true, OnBusy.FAIL);
		InMemoryFence fence = new InMemoryFence();
		return new FencedOperationExecutor(new OperationSettingsSource(defaults, Map.of(), Duration.ofDays(7)),
				this.resources, new OperationEntry(this.leases, () -> List.of(fence), this.listeners),
				new OperationObserver(this.leases, () -> List.of(fence), this.listeners, MonotonicClock.SYSTEM),
				this.listeners, MonotonicClock.SYSTEM, new SimpleAsyncTaskExecutor("completion-"), () -> null);
	}

	// a minimal stage is a CompletableFuture that refuses to be asked
	@Test
	void whenStageIsMinimalThenOperationLastsUntilItCompletes() throws Exception {
		try (InMemoryOperations own = new InMemoryOperations()) {
			CompletionStage<String> done = own.executor.call(FencedOperationRequest.of("op", "minimal"),
					() -> CompletableFuture.completedStage("done"));
			assertThat(done.toCompletableFuture()).isCompletedWithValue("done");
			assertThat(own.isTaken("minimal")).isFalse();
			CompletableFuture<String> work = new CompletableFuture<>();
			CompletionStage<String> followed = own.executor.call(FencedOperationRequest.of("op", "minimal"),
					work::minimalCompletionStage);
			assertThat(own.isTaken("minimal")).isTrue();
			work.complete("later");
			assertThat(followed.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo("later");
			assertThat(own.isTaken("minimal")).isFalse();
		}
	}

	@Test
	void whenStageIsNoFutureThenCallerMayCancelAndLeasesAreKept() {
		try (InMemoryOperations own = new InMemoryOperations()) {
			CompletableFuture<String> work = new CompletableFuture<>() {

				@Override
				public CompletableFuture<String> toCompletableFuture() {
					throw new UnsupportedOperationException();
				}

			};
			CompletionStage<String> followed = own.executor.call(FencedOperationRequest.of("op", "odd"),
					() -> (CompletionStage<String>) work);
			assertThat(followed.toCompletableFuture().cancel(true)).isTrue();
			assertThat(own.isTaken("odd")).isTrue();
			work.complete("done");
			Awaitility.await().until(() -> !own.isTaken("odd"));
		}
	}

}
