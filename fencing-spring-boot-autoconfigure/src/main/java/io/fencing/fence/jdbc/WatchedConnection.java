package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Arrays;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * A connection that tells of each text before it is sent, and of the ends of its
 * transaction. Its statements and its metadata give this connection, not the one behind
 * it; rows are not slowed down by proxies.
 */
final class WatchedConnection implements InvocationHandler {

	private final Object target;

	private final @Nullable Connection connection;

	private final boolean updatable;

	private final WatchedProxies proxies;

	private final Watcher watcher;

	private WatchedConnection(Object target, @Nullable Connection connection, boolean updatable, WatchedProxies proxies,
			Watcher watcher) {
		this.target = target;
		this.connection = connection;
		this.updatable = updatable;
		this.proxies = proxies;
		this.watcher = watcher;
	}

	/**
	 * Watch a connection.
	 * @param connection the connection
	 * @param proxies makes the proxies
	 * @param watcher is told
	 * @return the connection to use instead
	 */
	static Connection of(Connection connection, WatchedProxies proxies, Watcher watcher) {
		return (Connection) proxies.create(connection,
				new WatchedConnection(connection, null, false, proxies, watcher));
	}

	/**
	 * Tell the watchers of a connection that a hold is being taken on it.
	 * @param connection the connection, watched or not
	 * @param transaction the one that it is in
	 */
	static void tellHold(Connection connection, ConnectionHolder transaction) {
		WatchedConnection watched = find(connection);
		if (watched != null) {
			watched.watcher.beforeHold(transaction);
		}
	}

	/**
	 * Where statements of our own are sent, which nobody needs to look at.
	 * @param connection the connection, watched or not
	 * @return what is behind it
	 */
	static Connection behind(Connection connection) {
		WatchedConnection watched = find(connection);
		return (watched != null) ? (Connection) watched.target : connection;
	}

	private static @Nullable WatchedConnection find(Connection connection) {
		return (connection instanceof WatchedProxies.Watched
				&& Proxy.getInvocationHandler(connection) instanceof WatchedConnection watched) ? watched : null;
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
		Object result = (first instanceof String sql && sends(name)) ? send(sql, method, arguments)
				: invoke(method, arguments);
		return (result instanceof Statement || result instanceof DatabaseMetaData)
				? this.proxies.create(result,
						new WatchedConnection(result, own, mayWriteRows(arguments), this.proxies, this.watcher))
				: result;
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
	private boolean mayWriteRows(@Nullable Object @Nullable [] arguments) {
		return this.updatable || has(arguments, ResultSet.CONCUR_UPDATABLE);
	}

	private static boolean has(@Nullable Object @Nullable [] arguments, Object value) {
		return arguments != null && Arrays.asList(arguments).contains(value);
	}

	private static boolean sends(String name) {
		return name.startsWith("prepare") || name.startsWith("execute") || name.equals("addBatch");
	}

	private @Nullable Object send(String sql, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
		this.watcher.beforeStatement(() -> mayWriteRows(arguments) ? TemplateStatement.unknown("execute")
				: TemplateStatement.of("execute", this.proxies.read(sql)));
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
		 * Statements of our own are about to take a hold.
		 * @param transaction the connection of the transaction
		 */
		default void beforeHold(ConnectionHolder transaction) {
		}

		/**
		 * A statement is about to be sent or prepared.
		 * @param statement reads the statement
		 */
		void beforeStatement(Supplier<TemplateStatement> statement);

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
