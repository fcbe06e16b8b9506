package io.fencing.operation;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import io.fencing.context.OperationContext.Scope;
import org.jspecify.annotations.Nullable;

/**
 * An operation that has been entered. It ends with the last of those who need its leases:
 * the body, or the transactions of the caller that it has joined; and the stage that the
 * body has returned. The thread that has entered runs the body and leaves; a stage may be
 * completed on any thread.
 */
final class RunningOperation {

	private final OperationContext context;

	private final Scope scope;

	private final UnaryOperator<FencingException> examiner;

	private final boolean joined;

	private RunningOperation(OperationContext context, Scope scope, UnaryOperator<FencingException> examiner,
			boolean joined) {
		this.context = context;
		this.scope = scope;
		this.examiner = examiner;
		this.joined = joined;
	}

	/**
	 * An operation that ends with its body.
	 * @param context its context
	 * @param scope the context on this thread
	 * @param examiner looks closer at the refusal that it ends with, while it still holds
	 * its leases
	 * @return the operation
	 */
	static RunningOperation entered(OperationContext context, Scope scope, UnaryOperator<FencingException> examiner) {
		return new RunningOperation(context, scope, examiner, false);
	}

	/**
	 * An operation that has joined transactions of its caller and ends when they have
	 * {@linkplain #leaveThread() left}.
	 * @param context its context
	 * @param scope the context on this thread
	 * @param examiner looks closer at the refusal that it ends with, while it still holds
	 * its leases
	 * @return the operation
	 */
	static RunningOperation joined(OperationContext context, Scope scope, UnaryOperator<FencingException> examiner) {
		return new RunningOperation(context, scope, examiner, true);
	}

	/**
	 * A call that needs nothing which is not held already: it joins.
	 * @param context the context that holds it
	 * @return the operation
	 */
	static RunningOperation within(OperationContext context) {
		return joined(context, () -> {
		}, UnaryOperator.identity());
	}

	/**
	 * Run the body.
	 * @param body the body
	 * @param finished told once how the operation ended for its caller
	 * @param completions where an operation ends whose stage has completed: the thread
	 * that completes it may be one that must not wait
	 * @param <T> the type of the result
	 * @param <E> the type of the exception
	 * @return the result of the body; a stage that follows the one it has returned
	 * @throws E what the body threw
	 */
	<T extends @Nullable Object, E extends Exception> T run(FencedBody<T, E> body,
			Consumer<@Nullable Throwable> finished, Executor completions) throws E {
		T result;
		try {
			throwRefusal();
			result = DeferredResults.checked(this.context.getOperation(), body.run());
			if (result instanceof CompletionStage<?> stage) {
				return follow(stage, finished, completions);
			}
			throwRefusal();
		}
		catch (Throwable ex) {
			Throwable failure = end(ex, this::leaveBody);
			finished.accept(failure);
			if (failure instanceof FencingException refusal) {
				throw refusal;
			}
			throw ex;
		}
		leaveBody();
		finished.accept(null);
		return result;
	}

	// the operations around this one last as well, since its work needs their leases
	@SuppressWarnings("unchecked")
	private <T> T follow(CompletionStage<?> stage, Consumer<@Nullable Throwable> finished, Executor completions) {
		Supplier<@Nullable RuntimeException> leave = this.context.keep();
		FollowedStage<?> followed;
		try {
			followed = FollowedStage.of(stage, (thrown) -> {
				Throwable failure = end(thrown, leave);
				finished.accept(failure);
				return failure;
			}, completions);
		}
		catch (Throwable ex) {
			RuntimeException left = leave.get();
			if (left != null) {
				ex.addSuppressed(left);
			}
			throw ex;
		}
		leaveBody();
		return (T) followed;
	}

	private void throwRefusal() {
		FencingException refusal = this.context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
	}

	// a recorded refusal ranks above everything else
	private @Nullable Throwable end(@Nullable Throwable thrown, Supplier<@Nullable RuntimeException> leave) {
		Throwable failure = thrown;
		FencingException recorded = this.context.getRefusal();
		if (recorded != null) {
			failure = this.examiner.apply(recorded);
			if (thrown != null && failure != thrown && !isCausedBy(thrown, recorded)) {
				failure.addSuppressed(thrown);
			}
		}
		if (failure != null) {
			this.context.fail();
		}
		RuntimeException left = leave.get();
		if (failure != null && left != null) {
			failure.addSuppressed(left);
		}
		return failure;
	}

	private @Nullable RuntimeException leaveBody() {
		return this.joined ? null : leaveThread();
	}

	/**
	 * The thread that has entered needs the operation no longer.
	 * @return what went wrong while leases were given back, {@code null} if nothing did
	 */
	@Nullable RuntimeException leaveThread() {
		this.scope.close();
		return this.context.end();
	}

	private static boolean isCausedBy(Throwable thrown, @Nullable Throwable cause) {
		for (Throwable next = thrown; next != null; next = next.getCause()) {
			if (next == cause) {
				return true;
			}
		}
		return false;
	}

}
