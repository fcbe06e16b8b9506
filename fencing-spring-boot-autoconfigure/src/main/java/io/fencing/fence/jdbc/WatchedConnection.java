package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * A connection that tells of each text before it is sent, and of the ends of its
 * transaction. Its statements and its metadata give this connection, not the one behind
 * it; rows are not slowed down by proxies.
 */
final class WatchedConnection implements InvocationHandler {

	// for each class of connections, statements and metadata
	private static final ClassValue<Class<?>[]> INTERFACES = new ClassValue<>() {

		@Override
		protected Class<?>[] computeValue(Class<?> type) {
			return ClassUtils.getAllInterfacesForClass(type);
		}

	};

	private static final List<Class<?>> WATCHED = List.of(Connection.class, CallableStatement.class,
			PreparedStatement.class, Statement.class, DatabaseMetaData.class);

	private final Object target;

	private final @Nullable Connection connection;

	private final boolean updatable;

	private final StatementTexts texts;

	private final Watcher watcher;

	private WatchedConnection(Object target, @Nullable Connection connection, boolean updatable, StatementTexts texts,
			Watcher watcher) {
		this.target = target;
		this.connection = connection;
		this.updatable = updatable;
		this.texts = texts;
		this.watcher = watcher;
	}

	/**
	 * Watch a connection.
	 * @param connection the connection
	 * @param texts reads texts
	 * @param watcher is told
	 * @return the connection to use instead
	 */
	static Connection of(Connection connection, StatementTexts texts, Watcher watcher) {
		return (Connection) proxy(connection, new WatchedConnection(connection, null, false, texts, watcher));
	}

	private static Object proxy(Object target, WatchedConnection handler) {
		ClassLoader loader = WatchedConnection.class.getClassLoader();
		try {
			return Proxy.newProxyInstance(loader, INTERFACES.get(target.getClass()), handler);
		}
		catch (IllegalArgumentException ex) {
			// an interface of the driver that cannot be seen from here
			Class<?> type = WATCHED.stream().filter((one) -> one.isInstance(target)).findFirst().orElseThrow();
			return Proxy.newProxyInstance(loader, new Class<?>[] { type }, handler);
		}
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		String name = method.getName();
		Object first = (arguments != null && arguments.length > 0) ? arguments[0] : null;
		if (name.equals("equals")) {
			return proxy == first;
		}
		if (name.equals("hashCode")) {
			return System.identityHashCode(proxy);
		}
		Connection own = (this.connection != null) ? this.connection : (Connection) proxy;
		if (name.equals("getConnection")) {
			return own;
		}
		if (this.connection == null) {
			tellEnd(name, arguments);
		}
		boolean writesRows = this.updatable || mayWriteRows(arguments);
		Object result = (first instanceof String sql && sends(name)) ? send(sql, writesRows, method, arguments)
				: invoke(method, arguments);
		return (result instanceof Statement || result instanceof DatabaseMetaData)
				? proxy(result, new WatchedConnection(result, own, writesRows, this.texts, this.watcher)) : result;
	}

	private void tellEnd(String name, @Nullable Object @Nullable [] arguments) {
		if (name.equals("commit") || (name.equals("setAutoCommit") && has(arguments, true))) {
			this.watcher.beforeCommit();
		}
		// not to a savepoint
		else if (name.equals("rollback") && arguments == null) {
			this.watcher.beforeRollback();
		}
	}

	// no other constant of JDBC that may stand there has this number
	private static boolean mayWriteRows(@Nullable Object @Nullable [] arguments) {
		return has(arguments, ResultSet.CONCUR_UPDATABLE);
	}

	private static boolean has(@Nullable Object @Nullable [] arguments, Object value) {
		return arguments != null && Arrays.asList(arguments).contains(value);
	}

	private static boolean sends(String name) {
		return name.startsWith("prepare") || name.startsWith("execute") || name.equals("addBatch");
	}

	private @Nullable Object send(String sql, boolean writesRows, Method method,
			@Nullable Object @Nullable [] arguments) throws Throwable {
		this.watcher.beforeStatement(writesRows ? TemplateStatement.unknown("execute")
				: TemplateStatement.of("execute", this.texts.get(sql)));
		try (OwnStatements.Scope looked = OwnStatements.open()) {
			return invoke(method, arguments);
		}
	}

	private @Nullable Object invoke(Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
		try {
			return method.invoke(this.target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * Looks at what a connection does.
	 */
	interface Watcher {

		/**
		 * A statement is about to be sent or prepared.
		 * @param statement the statement
		 */
		void beforeStatement(TemplateStatement statement);

		/**
		 * The connection, and no text, is about to commit.
		 */
		default void beforeCommit() {
		}

		/**
		 * The connection, and no text, is about to roll back.
		 */
		default void beforeRollback() {
		}

	}

}
