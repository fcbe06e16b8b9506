package io.fencing.fence.redis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.fencing.context.OperationContext;
import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.util.ClassUtils;

/**
 * Changes the connections that a provider gives and takes back. The provider keeps all
 * its interfaces, of which some are not public. Thread-safe.
 */
final class FencedConnectionProvider implements InvocationHandler {

	private final LettuceConnectionProvider provider;

	private final UnaryOperator<Object> given;

	private final Supplier<UnaryOperator<Object>> givenLater;

	private final UnaryOperator<Object> takenBack;

	private FencedConnectionProvider(LettuceConnectionProvider provider, UnaryOperator<Object> given,
			Supplier<UnaryOperator<Object>> givenLater, UnaryOperator<Object> takenBack) {
		this.provider = provider;
		this.given = given;
		this.givenLater = givenLater;
		this.takenBack = takenBack;
	}

	/**
	 * Put the fence around the connections of the driver.
	 * @param provider gives connections of the driver
	 * @param wrap wraps a connection, or leaves it as it is
	 * @return the decorated provider
	 */
	static LettuceConnectionProvider wrapping(LettuceConnectionProvider provider, UnaryOperator<Object> wrap) {
		return decorate(provider,
				new FencedConnectionProvider(provider, wrap, () -> wrap,
						(connection) -> (connection instanceof FencedStatefulConnection<?, ?, ?> fenced)
								? fenced.getDelegate() : connection));
	}

	/**
	 * Keep the connections that are obtained later, whose commands are sent by whatever
	 * thread completes them, in the operation that has asked for them, until they are
	 * given back. A pool may hand them to another one then.
	 * @param provider gives fenced connections
	 * @return the decorated provider
	 */
	static LettuceConnectionProvider carrying(LettuceConnectionProvider provider) {
		return decorate(provider, new FencedConnectionProvider(provider, UnaryOperator.identity(), () -> {
			OperationContext context = OperationContext.getEnforced();
			return (connection) -> carry(connection, context);
		}, (connection) -> carry(connection, null)));
	}

	private static Object carry(Object connection, @Nullable OperationContext context) {
		if (connection instanceof FencedStatefulConnection<?, ?, ?> fenced) {
			fenced.capture(context);
		}
		return connection;
	}

	private static LettuceConnectionProvider decorate(LettuceConnectionProvider provider, InvocationHandler handler) {
		return (LettuceConnectionProvider) Proxy.newProxyInstance(LettuceConnectionProvider.class.getClassLoader(),
				ClassUtils.getAllInterfaces(provider), handler);
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] args) throws Throwable {
		Object result;
		try {
			result = method.invoke(this.provider, takenBack(method, args));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
		if (method.getName().equals("getConnectionAsync") && result instanceof CompletionStage<?> stage) {
			return stage.thenApply(this.givenLater.get());
		}
		return (result instanceof StatefulConnection<?, ?> connection) ? this.given.apply(connection) : result;
	}

	private Object @Nullable [] takenBack(Method method, Object @Nullable [] args) {
		return (method.getName().startsWith("release") && args != null && args.length == 1)
				? new Object[] { this.takenBack.apply(args[0]) } : args;
	}

}
