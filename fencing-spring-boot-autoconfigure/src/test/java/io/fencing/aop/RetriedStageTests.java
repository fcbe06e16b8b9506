package io.fencing.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.fencing.FencedOperation;
import org.junit.jupiter.api.Test;

import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Spring's retry of operations whose result is a stage: only what a method throws, that
 * is declared to return a {@code CompletableFuture}, is retried. What looks like a retry
 * of a stage listens to the same stage again, and no token is used twice.
 */
class RetriedStageTests {

	@Test
	void whenMethodThrowsThenRetriedOnlyIfItReturnsAFuture() {
		assertThat(attempts((work) -> work.throwingFuture())).isEqualTo(3);
		assertThat(attempts((work) -> work.throwingStage())).isOne();
	}

	@Test
	void whenStageFailsThenNotRetried() {
		assertThat(attempts((work) -> work.failedFuture())).isOne();
		assertThat(attempts((work) -> work.failedStage().toCompletableFuture())).isOne();
	}

	private static int attempts(Function<Work, CompletionStage<String>> call) {
		AtomicInteger attempts = new AtomicInteger();
		FencedContextRunner.create().withUserConfiguration(Work.class).run((context) -> {
			Work work = context.getBean(Work.class);
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> call.apply(work).toCompletableFuture().join())
				.satisfiesAnyOf((ex) -> assertThat(ex).isInstanceOf(IllegalStateException.class),
						(ex) -> assertThat(ex).isInstanceOf(CompletionException.class));
			assertThat(FencedContextRunner.isLeased(context, "stage")).isFalse();
			attempts.set(((Work) AopTestUtils.getTargetObject(work)).attempts.get());
		});
		return attempts.get();
	}

	@EnableResilientMethods
	static class Work {

		private final AtomicInteger attempts = new AtomicInteger();

		@Retryable(maxRetries = 2, delay = 1)
		@FencedOperation("stage")
		CompletableFuture<String> throwingFuture() {
			this.attempts.incrementAndGet();
			throw new IllegalStateException("broken");
		}

		@Retryable(maxRetries = 2, delay = 1)
		@FencedOperation("stage")
		CompletionStage<String> throwingStage() {
			return throwingFuture();
		}

		@Retryable(maxRetries = 2, delay = 1)
		@FencedOperation("stage")
		CompletableFuture<String> failedFuture() {
			this.attempts.incrementAndGet();
			return CompletableFuture.failedFuture(new IllegalStateException("broken"));
		}

		@Retryable(maxRetries = 2, delay = 1)
		@FencedOperation("stage")
		CompletionStage<String> failedStage() {
			return failedFuture();
		}

	}

}
