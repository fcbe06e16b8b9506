package io.fencing.fence.redis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.internal.Futures;
import org.jspecify.annotations.Nullable;

/**
 * Lettuce's synchronous commands on top of asynchronous ones: calls and waits, except for
 * what is queued in a transaction. Thread-safe.
 */
final class SyncCommands implements InvocationHandler {

	private static final Set<String> TRANSACTION_CONTROL = Set.of("multi", "exec", "discard", "watch", "unwatch");

	private final StatefulConnection<?, ?> connection;

	private final Object async;

	private final Map<Method, Method> methods = new ConcurrentHashMap<>();

	private SyncCommands(StatefulConnection<?, ?> connection, Object async) {
		this.connection = connection;
		this.async = async;
	}

	/**
	 * Create commands.
	 * @param connection the connection
	 * @param async its asynchronous commands
	 * @param interfaces what the commands can be cast to
	 * @return the commands
	 */
	static Object create(StatefulConnection<?, ?> connection, Object async, Class<?>... interfaces) {
		return Proxy.newProxyInstance(SyncCommands.class.getClassLoader(), interfaces,
				new SyncCommands(connection, async));
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
		if (method.getName().equals("getStatefulConnection")) {
			return this.connection;
		}
		try {
			Object result = target(method).invoke(this.async, args);
			if (!(result instanceof RedisFuture<?> future)) {
				return result;
			}
			if (isQueued() && !TRANSACTION_CONTROL.contains(method.getName())) {
				return null;
			}
			return Futures.awaitOrCancel(future, this.connection.getTimeout().toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private Method target(Method method) throws NoSuchMethodException {
		Method target = this.methods.get(method);
		if (target == null) {
			target = this.async.getClass().getMethod(method.getName(), method.getParameterTypes());
			this.methods.put(method, target);
		}
		return target;
	}

	private boolean isQueued() {
		return this.connection instanceof StatefulRedisConnection<?, ?> single && single.isMulti();
	}

}
