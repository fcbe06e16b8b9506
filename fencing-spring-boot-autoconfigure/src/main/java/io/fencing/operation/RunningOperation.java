package io.fencing.operation;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

/**
 * One entered operation: runs the body and decides how it ends. A recorded refusal ranks
 * above what the body returned or threw, and that above a failure to give the leases
 * back; what is outranked is attached. Used by one thread.
 */
final class RunningOperation {

	private final OperationContext context;

	private final Supplier<@Nullable RuntimeException> end;

	private final UnaryOperator<FencingException> examiner;

	private final AtomicBoolean ended = new AtomicBoolean();

	/**
	 * Create a running operation.
	 * @param context its context, open on this thread
	 * @param end gives back what it holds and answers with what went wrong; called at
	 * most once
	 */
	RunningOperation(OperationContext context, Supplier<@Nullable RuntimeException> end) {
		this(context, end, UnaryOperator.identity());
	}

	/**
	 * Create a running operation.
	 * @param context its context, open on this thread
	 * @param end gives back what it holds and answers with what went wrong; called at
	 * most once
	 * @param examiner looks closer at the refusal that it ends with, while it still holds
	 * its leases
	 */
	RunningOperation(OperationContext context, Supplier<@Nullable RuntimeException> end,
			UnaryOperator<FencingException> examiner) {
		this.context = context;
		this.end = end;
		this.examiner = examiner;
	}

	/**
	 * A call that needs nothing which is not held already: it joins.
	 * @param context the context that holds it
	 * @return the operation
	 */
	static RunningOperation within(OperationContext context) {
		return new RunningOperation(context, () -> null);
	}

	<T extends @Nullable Object, E extends Exception> T run(FencedBody<T, E> body) throws E {
		T result;
		try {
			throwRefusal();
			result = body.run();
			throwRefusal();
		}
		catch (Throwable ex) {
			FencingException recorded = this.context.getRefusal();
			FencingException refusal = (recorded != null) ? this.examiner.apply(recorded) : null;
			if (refusal == null || refusal == ex) {
				endBy(ex);
				throw ex;
			}
			if (!isCausedBy(ex, recorded)) {
				refusal.addSuppressed(ex);
			}
			endBy(refusal);
			throw refusal;
		}
		end();
		return result;
	}

	private void throwRefusal() {
		FencingException refusal = this.context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
	}

	private void endBy(Throwable thrown) {
		RuntimeException failure = end();
		if (failure != null) {
			thrown.addSuppressed(failure);
		}
	}

	/**
	 * Give back what it holds, once.
	 * @return what went wrong, {@code null} if nothing did
	 */
	@Nullable RuntimeException end() {
		return this.ended.compareAndSet(false, true) ? this.end.get() : null;
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
