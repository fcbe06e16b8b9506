package io.fencing.fence.redis;

import java.util.Set;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.data.redis.connection.ReactiveRedisConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Refuses the connections of a factory inside of operations, those obtained before as
 * well, where its driver has no fence. Thread-safe.
 */
final class RefusingConnectionFactory implements MethodInterceptor {

	private static final Set<String> HARMLESS = Set.of("close", "closeLater", "closePipeline", "discard", "isClosed",
			"isPipelined", "isQueueing", "isSubscribed", "getSubscription", "hashCode", "equals", "toString");

	private static final String REMEDY = "connections of this driver cannot be fenced in this version; use a "
			+ "LettuceConnectionFactory, or leave the factory out of 'fencing.redis.factories'";

	private final Supplier<RedisFence> fence;

	private RefusingConnectionFactory(Supplier<RedisFence> fence) {
		this.fence = fence;
	}

	/**
	 * Decorate a factory.
	 * @param factory the factory
	 * @param fence gives the fence; called when something is refused
	 * @return the factory, of the same class
	 */
	static Object decorate(RedisConnectionFactory factory, Supplier<RedisFence> fence) {
		RefusingConnectionFactory refusing = new RefusingConnectionFactory(fence);
		return proxy(factory, (invocation) -> {
			Object result = invocation.proceed();
			return (result instanceof RedisConnection || result instanceof ReactiveRedisConnection)
					? proxy(result, refusing) : result;
		});
	}

	private static Object proxy(Object target, MethodInterceptor interceptor) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvice(interceptor);
		return factory.getProxy(target.getClass().getClassLoader());
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.getEnforced();
		String method = invocation.getMethod().getName();
		if (context != null && !HARMLESS.contains(method)) {
			throw this.fence.get().unfenced(context, method, REMEDY);
		}
		return invocation.proceed();
	}

}
