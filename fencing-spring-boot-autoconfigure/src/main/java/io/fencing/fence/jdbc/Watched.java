package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * A connection, a statement or the metadata of one: it tells of each text before it is
 * sent, and of the ends of its transaction. Statements and metadata give this connection,
 * not the one behind it; rows are not slowed down.
 *
 * <p>
 * {@link WatchedClasses} makes the classes, with the interfaces of what is behind them.
 */
abstract class Watched {

	private static final Set<String> TOLD = Set.of("commit", "rollback", "setAutoCommit", "getConnection");

	private final Object target;

	private final @Nullable Connection connection;

	private final boolean updatable;

	private final WatchedClasses classes;

	private final Watcher watcher;

	/**
	 * Watch something.
	 * @param target what is behind it
	 * @param connection the watched connection that it belongs to, {@code null} for that
	 * connection itself
	 * @param updatable whether rows that it gives may be written to
	 * @param classes makes what else is needed
	 * @param watcher is told
	 */
	Watched(Object target, @Nullable Connection connection, boolean updatable, WatchedClasses classes,
			Watcher watcher) {
		this.target = target;
		this.connection = connection;
		this.updatable = updatable;
		this.classes = classes;
		this.watcher = watcher;
	}

	/**
	 * Tell the watchers of a connection that a hold is being taken on it.
	 * @param connection the connection, watched or not
	 * @param transaction the one that it is in
	 */
	static void tellHold(Connection connection, ConnectionHolder transaction) {
		if (connection instanceof Watched watched) {
			watched.watcher.beforeHold(transaction);
		}
	}

	/**
	 * Where statements of our own are sent, which nobody needs to look at.
	 * @param connection the connection, watched or not
	 * @return what is behind it
	 */
	static Connection behind(Connection connection) {
		return (connection instanceof Watched watched) ? (Connection) watched.target : connection;
	}

	/**
	 * Whether a method cannot simply be passed to what is behind it.
	 * @param method a method of one of its interfaces
	 * @return whether it comes to {@link #intercept}
	 */
	static boolean intercepts(Method method) {
		return TOLD.contains(method.getName()) || mayGive(method, CallableStatement.class, Statement.class)
				|| mayGive(method, DatabaseMetaData.class, DatabaseMetaData.class)
				|| (sends(method) && method.getParameterTypes()[0].isAssignableFrom(String.class));
	}

	private static boolean mayGive(Method method, Class<?> most, Class<?> least) {
		Class<?> type = method.getReturnType();
		return least.isAssignableFrom(type) || type.isAssignableFrom(most);
	}

	private static boolean sends(Method method) {
		String name = method.getName();
		return method.getParameterCount() > 0
				&& (name.startsWith("prepare") || name.startsWith("execute") || name.equals("addBatch"));
	}

	// static, as the next one: an interface of a library may have a method of any name
	static Object target(Object watched) {
		return ((Watched) watched).target;
	}

	static Watcher watcher(Watched watched) {
		return watched.watcher;
	}

	/**
	 * Do what a method does, and tell of it.
	 * @param method the method
	 * @param arguments its arguments
	 * @return its result, watched if that is needed
	 * @throws Throwable what it throws, unchanged
	 */
	@Nullable Object intercept(Method method, @Nullable Object[] arguments) throws Throwable {
		String name = method.getName();
		Connection own = (this.connection != null) ? this.connection : (Connection) this;
		if (name.equals("getConnection")) {
			return (this.connection != null) ? own : connectionBehind(method, arguments);
		}
		if (this.connection == null) {
			tellEnd(name, arguments);
		}
		Object result = (sends(method) && arguments[0] instanceof String sql) ? send(sql, method, arguments)
				: invoke(method, arguments);
		return (result instanceof Statement || result instanceof DatabaseMetaData)
				? fit(watch(result, own, mayWriteRows(arguments)), result, arguments) : result;
	}

	// the way of some pools to the connection of the driver
	private @Nullable Object connectionBehind(Method method, @Nullable Object[] arguments) throws Throwable {
		return (invoke(method, arguments) instanceof Connection given) ? this.classes.watch(given, this.watcher) : null;
	}

	// unwrapped to a class, which no other can stand for
	private static Object fit(Object watched, Object result, @Nullable Object[] arguments) {
		return (arguments.length == 1 && arguments[0] instanceof Class<?> type && !type.isInstance(watched)) ? result
				: watched;
	}

	private void tellEnd(String name, @Nullable Object[] arguments) {
		if (name.equals("commit") || (name.equals("setAutoCommit") && has(arguments, true))) {
			this.watcher.beforeCommit();
		}
		// not to a savepoint
		else if (name.equals("rollback") && arguments.length == 0) {
			this.watcher.beforeRollback();
		}
	}

	// no other constant of JDBC that may stand there has this number
	private boolean mayWriteRows(@Nullable Object[] arguments) {
		return this.updatable || has(arguments, ResultSet.CONCUR_UPDATABLE);
	}

	private static boolean has(@Nullable Object[] arguments, Object value) {
		return Arrays.asList(arguments).contains(value);
	}

	private @Nullable Object send(String sql, Method method, @Nullable Object[] arguments) throws Throwable {
		try (OwnStatements.Scope looked = tellStatement(sql, mayWriteRows(arguments))) {
			return invoke(method, arguments);
		}
	}

	/**
	 * Tell of a text that is about to be sent.
	 * @param sql the text
	 * @param writesRows whether its rows may be written to
	 * @return what to close when it is sent
	 */
	OwnStatements.Scope tellStatement(String sql, boolean writesRows) {
		this.watcher.beforeStatement(() -> TemplateStatement.sent(this.classes.read(sql), writesRows));
		return OwnStatements.open();
	}

	/**
	 * Watch a statement or the metadata.
	 * @param result what the connection has given
	 * @param own the watched connection
	 * @param writesRows whether its rows may be written to
	 * @return what to use instead
	 */
	Object watch(Object result, Connection own, boolean writesRows) {
		return this.classes.create(result, own, writesRows, this.watcher);
	}

	private @Nullable Object invoke(Method method, @Nullable Object[] arguments) throws Throwable {
		try {
			return method.invoke(this.target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	@Override
	public String toString() {
		return this.target.toString();
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
