package io.fencing.operation;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * What the caller of an operation gets in place of a stage: completed after the operation
 * has ended, with its refusal if there is one. Cancelling it cancels the stage; a
 * time-out of it does not, so that the leases are kept until the work is done.
 *
 * @param <T> the type of the result
 */
final class FollowedStage<T> extends CompletableFuture<T> {

	private final CompletionStage<T> stage;

	private FollowedStage(CompletionStage<T> stage) {
		this.stage = stage;
	}

	/**
	 * Follow a stage.
	 * @param stage the stage
	 * @param end ends the operation, given what the stage failed with, and answers with
	 * what the caller is told
	 * @param completions where the operation ends, unless the stage has completed already
	 * @param <T> the type of the result
	 * @return the stage for the caller
	 */
	static <T> FollowedStage<T> of(CompletionStage<T> stage, UnaryOperator<@Nullable Throwable> end,
			Executor completions) {
		FollowedStage<T> followed = new FollowedStage<>(stage);
		stage.whenCompleteAsync((result, thrown) -> {
			Throwable failure = end.apply(unwrap(thrown));
			if (failure != null) {
				followed.completeExceptionally(failure);
			}
			else {
				followed.complete(result);
			}
		}, isDone(stage) ? Runnable::run : completions);
		return followed;
	}

	// a minimal stage is a future that cannot be asked itself
	private static boolean isDone(CompletionStage<?> stage) {
		try {
			return stage.toCompletableFuture().isDone();
		}
		catch (UnsupportedOperationException ex) {
			return false;
		}
	}

	private static @Nullable Throwable unwrap(@Nullable Throwable thrown) {
		return (thrown instanceof CompletionException && thrown.getCause() != null) ? thrown.getCause() : thrown;
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		try {
			this.stage.toCompletableFuture().cancel(mayInterruptIfRunning);
		}
		catch (UnsupportedOperationException ex) {
			// it goes on, and the leases are kept until it ends
		}
		return super.cancel(mayInterruptIfRunning);
	}

}
