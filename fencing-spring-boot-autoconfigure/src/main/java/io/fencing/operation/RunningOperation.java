package io.fencing.operation;

import java.util.concurrent.atomic.AtomicBoolean;

import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

/**
 * One entered operation: runs the body and ends with the refusal, if one was recorded.
 * Used by one thread.
 */
final class RunningOperation {

	private final OperationContext context;

	private final Runnable end;

	private final AtomicBoolean ended = new AtomicBoolean();

	/**
	 * Create a running operation.
	 * @param context its context, open on this thread
	 * @param end gives back what it holds; called at most once
	 */
	RunningOperation(OperationContext context, Runnable end) {
		this.context = context;
		this.end = end;
	}

	/**
	 * A call that needs nothing which is not held already: it joins.
	 * @param context the context that holds it
	 * @return the operation
	 */
	static RunningOperation within(OperationContext context) {
		return new RunningOperation(context, () -> {
		});
	}

	<T extends @Nullable Object, E extends Exception> T run(FencedBody<T, E> body) throws E {
		T result;
		try {
			throwRefusal(null);
			result = body.run();
		}
		catch (Throwable ex) {
			throwRefusal(ex);
			throw ex;
		}
		finally {
			end();
		}
		throwRefusal(null);
		return result;
	}

	void end() {
		if (this.ended.compareAndSet(false, true)) {
			this.end.run();
		}
	}

	private void throwRefusal(@Nullable Throwable thrown) {
		FencingException refusal = this.context.getRefusal();
		if (refusal == null || refusal == thrown) {
			return;
		}
		if (thrown != null && !causedBy(thrown, refusal)) {
			refusal.addSuppressed(thrown);
		}
		throw refusal;
	}

	private static boolean causedBy(Throwable thrown, Throwable cause) {
		for (Throwable next = thrown; next != null; next = next.getCause()) {
			if (next == cause) {
				return true;
			}
		}
		return false;
	}

}
