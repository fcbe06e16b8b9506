package io.fencing.fence.jdbc;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.springframework.util.ClassUtils;

/**
 * Makes the proxies of {@link WatchedConnection}, and reads the texts that are sent
 * through them. Looks once at each class of connections, statements and metadata.
 * Thread-safe.
 */
final class WatchedProxies {

	private static final List<Class<?>> WATCHED = List.of(Connection.class, CallableStatement.class,
			PreparedStatement.class, Statement.class, DatabaseMetaData.class);

	private final Map<Class<?>, Constructor<?>> constructors = new ConcurrentHashMap<>();

	private final StatementTexts texts = new StatementTexts();

	/**
	 * Make a proxy.
	 * @param target what is behind it
	 * @param handler what is called
	 * @return the proxy, with the interfaces of the target
	 */
	Object create(Object target, InvocationHandler handler) {
		try {
			return this.constructors.computeIfAbsent(target.getClass(), WatchedProxies::constructor)
				.newInstance(handler);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Constructor<?> constructor(Class<?> type) {
		try {
			return constructor(ClassUtils.getAllInterfacesForClassAsSet(type));
		}
		catch (IllegalArgumentException ex) {
			// an interface of the driver that cannot be seen from here
			return constructor(WATCHED.stream().filter((one) -> one.isAssignableFrom(type)).limit(1).toList());
		}
	}

	private static Constructor<?> constructor(Collection<Class<?>> interfaces) {
		// of those that are not public, there can only be our own
		Stream<Class<?>> visible = interfaces.stream().filter((one) -> Modifier.isPublic(one.getModifiers()));
		Class<?>[] types = Stream.concat(Stream.of(Watched.class), visible).toArray(Class<?>[]::new);
		Object proxy = Proxy.newProxyInstance(WatchedProxies.class.getClassLoader(), types,
				(self, method, arguments) -> null);
		return proxy.getClass().getConstructors()[0];
	}

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText read(String sql) {
		return this.texts.get(sql);
	}

	/**
	 * Brings the classes of the proxies into this package, where their constructors can
	 * be called.
	 */
	interface Watched {

	}

}
