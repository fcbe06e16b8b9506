package io.fencing.fence.jdbc;

import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.sql.Connection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.fencing.fence.jdbc.Watched.Watcher;
import org.jspecify.annotations.Nullable;

import org.springframework.cglib.proxy.Callback;
import org.springframework.cglib.proxy.CallbackFilter;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.MethodInterceptor;
import org.springframework.cglib.proxy.NoOp;
import org.springframework.cglib.proxy.ProxyRefDispatcher;
import org.springframework.util.ClassUtils;

/**
 * Makes {@link Watched} connections, statements and metadata, and reads the texts that
 * are sent through them. Makes one class for each class behind them: what need not be
 * looked at goes straight there, as it would in a wrapper written by hand. Thread-safe.
 */
final class WatchedClasses {

	private static final Class<?>[] PARAMETERS = { Object.class, Connection.class, boolean.class, WatchedClasses.class,
			Watcher.class };

	// what the superclass has written down; what goes through; what comes to it
	private static final Callback[] CALLBACKS = { NoOp.INSTANCE, (ProxyRefDispatcher) Watched::target,
			(MethodInterceptor) (watched, method, arguments, proxy) -> ((Watched) watched).intercept(method,
					arguments) };

	// the same one each time, so that further application contexts get the same classes
	private static final CallbackFilter FILTER = (method) -> method.getDeclaringClass().isInterface()
			? (Watched.intercepts(method) ? 2 : 1) : 0;

	private final Map<Class<?>, Constructor<?>> constructors = new ConcurrentHashMap<>();

	private final StatementTexts texts = new StatementTexts();

	/**
	 * Watch a connection.
	 * @param connection the connection
	 * @param watcher is told
	 * @return the connection to use instead
	 */
	Connection watch(Connection connection, Watcher watcher) {
		return (Connection) create(connection, null, false, watcher);
	}

	/**
	 * Watch a connection, a statement or metadata.
	 * @param target what is behind it
	 * @param connection the watched connection that it belongs to, {@code null} for that
	 * connection itself
	 * @param updatable whether rows that it gives may be written to
	 * @param watcher is told
	 * @return what to use instead, with the interfaces of the target
	 */
	Object create(Object target, @Nullable Connection connection, boolean updatable, Watcher watcher) {
		try {
			Constructor<?> known = this.constructors.get(target.getClass());
			Constructor<?> constructor = (known != null) ? known
					: this.constructors.computeIfAbsent(target.getClass(), WatchedClasses::constructor);
			return constructor.newInstance(target, connection, updatable, this, watcher);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Constructor<?> constructor(Class<?> type) {
		Enhancer enhancer = new Enhancer();
		enhancer.setSuperclass(Connection.class.isAssignableFrom(type) ? WatchedConnection.class : Watched.class);
		enhancer.setInterfaces(interfaces(type));
		enhancer.setCallbackTypes(new Class<?>[] { NoOp.class, ProxyRefDispatcher.class, MethodInterceptor.class });
		enhancer.setCallbackFilter(FILTER);
		enhancer.setUseFactory(false);
		Class<?> made = enhancer.createClass();
		Enhancer.registerStaticCallbacks(made, CALLBACKS);
		try {
			Constructor<?> constructor = made.getDeclaredConstructor(PARAMETERS);
			// spares a check with each call
			constructor.setAccessible(true);
			return constructor;
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	// those of the driver as well, where they can be seen from here
	private static Class<?>[] interfaces(Class<?> type) {
		ClassLoader loader = WatchedClasses.class.getClassLoader();
		Set<Class<?>> all = ClassUtils.getAllInterfacesForClassAsSet(type);
		return all.stream()
			.filter((one) -> Modifier.isPublic(one.getModifiers()) && !one.isSealed()
					&& ClassUtils.isVisible(one, loader))
			.toArray(Class<?>[]::new);
	}

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText read(String sql) {
		return this.texts.get(sql);
	}

}
