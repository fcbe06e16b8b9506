package io.fencing.context;

import io.fencing.FencingContext;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Lets Micrometer's context propagation carry the context of an operation, as it carries
 * that of a trace: through Reactor, executors and snapshots of the application. What
 * arrives at a fence after the operation has ended is refused. Thread-safe.
 */
public final class FencingContextAccessor implements ThreadLocalAccessor<FencingContext> {

	/**
	 * The key of the context in a snapshot.
	 */
	public static final String KEY = "io.fencing.context";

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable FencingContext getValue() {
		return FencingContext.current();
	}

	@Override
	public void setValue(FencingContext context) {
		OperationContext.replace((OperationContext) context);
	}

	@Override
	public void setValue() {
		OperationContext.replace(null);
	}

}
