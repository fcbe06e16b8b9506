package io.fencing.operation;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

import io.fencing.FencedOperationRequest;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.LeaseLostException;
import io.fencing.LossReason;
import io.fencing.OperationOutcome;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Work that goes on when the call that has started it returns.
 */
class OutlivingTaskTests {

	private final InMemoryOperations operations = new InMemoryOperations();

	private final FencedOperationExecutor executor = this.operations.executor;

	private final CompletableFuture<String> work = new CompletableFuture<>();

	@AfterEach
	void close() {
		this.operations.close();
		assertThat(FencingContext.current()).isNull();
	}

	// case 39: a lease is never gone while the result is not done, whoever has leased it
	@ParameterizedTest
	@ValueSource(strings = { "a", "b" })
	void case39WhenStageOfANestedCallOutlivesTheOuterOneThenAllLeasesLast(String nested) throws Exception {
		AtomicReference<CompletableFuture<String>> result = new AtomicReference<>();
		AtomicReference<FencingContext> context = new AtomicReference<>();
		this.executor.call(request("outer", "a"), () -> {
			result.set(this.executor.call(request("nested", nested), () -> {
				context.set(FencingContext.required());
				return this.work;
			}));
			return null;
		});
		assertThat(this.operations.isTaken("a")).isTrue();
		assertThat(this.operations.isTaken(nested)).isTrue();
		context.get().checkHeld();
		this.work.complete("done");
		assertThat(result.get().get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.operations.isTaken("a")).isFalse();
		assertThat(this.operations.isTaken(nested)).isFalse();
		assertThatEnded(context.get()::checkHeld);
	}

	// rule 11: nothing runs without a lease
	@ParameterizedTest
	@ValueSource(strings = { "a", "b" })
	void rule11WhenTaskOfAnEndedOperationCallsAnotherThenItDoesNotRun(String nested) throws Exception {
		FencingContext context = this.executor.call(request("outer", "a"), FencingContext::required);
		assertThatEnded(() -> context.wrap(() -> true).call());
		assertThatEnded(() -> context.wrap(() -> {
		}).run());
		CompletableFuture<Void> task = this.executor.call(request("outer", "a"), () -> {
			CompletableFuture<String> started = new CompletableFuture<>();
			Runnable carried = FencingContext.required().wrap(() -> {
				started.complete("started");
				this.work.join();
				this.executor.call(request("nested", nested), OutlivingTaskTests::mustNotRun);
			});
			CompletableFuture<Void> running = CompletableFuture.runAsync(carried);
			started.join();
			// no result of the operation, which does not wait for it
			return List.of(running);
		}).get(0);
		this.work.complete("over");
		assertThatEnded(() -> {
			throw task.handle((done, thrown) -> thrown.getCause()).get(10, TimeUnit.SECONDS);
		});
		assertThat(this.operations.outcomes).last().isEqualTo(OperationOutcome.LOST);
		assertThat(this.operations.isTaken(nested)).isFalse();
	}

	// an observed operation never fails
	@Test
	void whenOperationIsOnlyObservedThenItsTasksMayOutliveIt() throws Exception {
		FencingContext context = this.executor.call(request("observed", "a"), FencingContext::required);
		FencingToken token = context.getToken();
		assertThat(context.isLost()).isFalse();
		context.checkHeld();
		assertThat(context.wrap(() -> this.executor.call(request("observed", "a"), FencingContext::required))
			.call()
			.getToken()).isGreaterThan(token);
		// what is enforced inside of it needs a lease that was not given back
		assertThat(context.wrap(() -> this.executor.call(request("enforced", "a"), () -> {
			assertThat(this.operations.isTaken("a")).isTrue();
			return FencingContext.required().getToken("a");
		})).call()).isGreaterThan(token);
	}

	@Test
	void whenStageCannotBeFollowedThenLeaseIsGivenBack() {
		CompletableFuture<String> unable = new CompletableFuture<>() {

			@Override
			public CompletableFuture<String> whenCompleteAsync(BiConsumer<? super String, ? super Throwable> action,
					Executor executor) {
				throw new IllegalStateException("cannot be followed");
			}

		};
		assertThatIllegalStateException()
			.isThrownBy(() -> this.executor.<CompletionStage<String>, RuntimeException>call(request("outer", "a"),
					() -> unable))
			.withMessage("cannot be followed");
		assertThat(this.operations.isTaken("a")).isFalse();
	}

	private static FencedOperationRequest request(String operation, String resource) {
		return FencedOperationRequest.of(operation, resource);
	}

	private static void assertThatEnded(ThrowingCallable call) {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(call)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LossReason.ENDED));
	}

	private static Object mustNotRun() {
		throw new AssertionError("The body must not run");
	}

}
