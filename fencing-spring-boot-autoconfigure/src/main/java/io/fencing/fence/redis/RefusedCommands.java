package io.fencing.fence.redis;

import java.util.Set;
import java.util.function.Supplier;

import io.fencing.Observation;
import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Refuses all commands of a connection inside of operations, where its driver has no
 * fence. Thread-safe.
 */
final class RefusedCommands implements MethodInterceptor {

	private static final Set<String> HARMLESS = Set.of("close", "closeLater", "closePipeline", "discard", "isClosed",
			"isPipelined", "isQueueing", "isSubscribed", "getSubscription", "hashCode", "equals", "toString");

	private final Supplier<RedisFence> fence;

	private final String remedy;

	/**
	 * Create an interceptor.
	 * @param fence gives the fence; called when something is refused
	 * @param remedy why, and what to do instead
	 */
	RefusedCommands(Supplier<RedisFence> fence, String remedy) {
		this.fence = fence;
		this.remedy = remedy;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.get();
		String method = invocation.getMethod().getName();
		if (context != null && !HARMLESS.contains(method)) {
			if (context.isEnforced()) {
				throw this.fence.get().unfenced(context, method, this.remedy);
			}
			this.fence.get().observed(context, Observation.REFUSED);
		}
		return invocation.proceed();
	}

}
