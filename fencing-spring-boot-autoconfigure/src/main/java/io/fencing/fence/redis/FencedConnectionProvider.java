package io.fencing.fence.redis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

import io.fencing.context.OperationContext;
import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.util.ClassUtils;

/**
 * Wraps the connections that a provider gives and unwraps those that it gets back. The
 * provider keeps all its interfaces, of which some are not public. Thread-safe.
 */
final class FencedConnectionProvider implements InvocationHandler {

	private final LettuceConnectionProvider provider;

	private final UnaryOperator<Object> wrap;

	private FencedConnectionProvider(LettuceConnectionProvider provider, UnaryOperator<Object> wrap) {
		this.provider = provider;
		this.wrap = wrap;
	}

	/**
	 * Decorate a provider.
	 * @param provider the provider
	 * @param wrap wraps a connection, or leaves it as it is
	 * @return the decorated provider
	 */
	static LettuceConnectionProvider decorate(LettuceConnectionProvider provider, UnaryOperator<Object> wrap) {
		return (LettuceConnectionProvider) Proxy.newProxyInstance(LettuceConnectionProvider.class.getClassLoader(),
				ClassUtils.getAllInterfaces(provider), new FencedConnectionProvider(provider, wrap));
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
		Object result;
		try {
			result = method.invoke(this.provider, unwrapped(method, args));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
		if (method.getName().equals("getConnectionAsync") && result instanceof CompletionStage<?> stage) {
			// its commands are sent by whatever thread completes it
			OperationContext context = OperationContext.getEnforced();
			return stage.thenApply((connection) -> within(this.wrap.apply(connection), context));
		}
		return (result instanceof StatefulConnection<?, ?> connection) ? this.wrap.apply(connection) : result;
	}

	private static Object within(Object connection, @Nullable OperationContext context) {
		return (context != null && connection instanceof FencedStatefulConnection<?, ?, ?> fenced)
				? fenced.within(context) : connection;
	}

	private static Object @Nullable [] unwrapped(Method method, Object @Nullable [] args) {
		if (!method.getName().startsWith("release") || args == null || args.length != 1) {
			return args;
		}
		return (args[0] instanceof FencedStatefulConnection<?, ?, ?> fenced) ? new Object[] { fenced.getDelegate() }
				: args;
	}

}
