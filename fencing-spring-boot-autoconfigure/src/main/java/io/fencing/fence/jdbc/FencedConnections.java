package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;

/**
 * Makes connections that look at each text sent inside an operation: a write on one that
 * does not hold is told, or refused. Thread-safe.
 */
final class FencedConnections {

	// for each class of connections and statements
	private static final ClassValue<Class<?>[]> INTERFACES = new ClassValue<>() {

		@Override
		protected Class<?>[] computeValue(Class<?> type) {
			return ObjectUtils.addObjectToArray(ClassUtils.getAllInterfacesForClass(type), Fenced.class);
		}

	};

	private final Supplier<JdbcFences> fences;

	private final UnfencedWriteGuard guard = new UnfencedWriteGuard();

	private final StatementTexts texts = new StatementTexts();

	FencedConnections(Supplier<JdbcFences> fences) {
		this.fences = fences;
	}

	/**
	 * Wrap a connection.
	 * @param connection the connection
	 * @param dataSource where it comes from
	 * @return the connection for the operation
	 */
	Connection wrap(Connection connection, DataSource dataSource) {
		JdbcFences fences = this.fences.get();
		if (fences.isExcluded(dataSource)) {
			return connection;
		}
		return (Connection) proxy(connection, Connection.class,
				new Handler(connection, (proxy, sql) -> check(fences, dataSource, (Connection) proxy, sql)));
	}

	private void check(JdbcFences fences, DataSource dataSource, Connection connection, String sql) {
		OperationContext context = OperationContext.getEnforced();
		if (context == null || OwnStatements.isOpen(dataSource)) {
			return;
		}
		JdbcFence fence = fences.findForStatement(dataSource);
		if (fence == null || !holds(fence, context, connection)) {
			this.guard.checkInside(fences, fence, context, TemplateStatement.of("execute", this.texts.get(sql)));
		}
	}

	private static boolean holds(JdbcFence fence, OperationContext context, Connection connection) {
		if (!(TransactionSynchronizationManager
			.getResource(fence.getDataSource()) instanceof ConnectionHolder holder)) {
			return false;
		}
		TransactionHold hold = TransactionHold.find(holder);
		return hold != null && hold.protects(context) && isSame(holder.getConnection(), connection);
	}

	// other proxies may stand in front of it, and in between of several of these
	private static boolean isSame(Connection bound, Connection connection) {
		try {
			for (Connection next = bound; next != null; next = inner(next)) {
				if (next == connection) {
					return true;
				}
			}
			return false;
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static @Nullable Connection inner(Connection connection) throws SQLException {
		if (connection instanceof Fenced fenced) {
			return fenced.getFencedConnection();
		}
		return connection.isWrapperFor(Fenced.class) ? (Connection) connection.unwrap(Fenced.class) : null;
	}

	private static Object proxy(Object target, Class<?> type, InvocationHandler handler) {
		Class<?>[] interfaces = INTERFACES.get(target.getClass());
		ClassLoader loader = FencedConnections.class.getClassLoader();
		try {
			return Proxy.newProxyInstance(loader, interfaces, handler);
		}
		catch (IllegalArgumentException ex) {
			// an interface of the driver that cannot be seen from here
			return Proxy.newProxyInstance(loader, new Class<?>[] { type, Fenced.class }, handler);
		}
	}

	/**
	 * Tells that a connection is one of these.
	 */
	interface Fenced {

		/**
		 * The connection behind it.
		 * @return the connection, as it was taken
		 */
		Connection getFencedConnection();

	}

	/**
	 * Looks at a text before it is sent.
	 */
	@FunctionalInterface
	private interface Check {

		void check(Object proxy, String sql);

	}

	/**
	 * What a connection does, and a statement that is given its texts late.
	 *
	 * @param target the connection or the statement
	 * @param check looks at texts
	 */
	private record Handler(Object target, Check check) implements InvocationHandler {

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
			if (method.getDeclaringClass() == Fenced.class) {
				return this.target;
			}
			if (first == Fenced.class) {
				return name.equals("unwrap") ? proxy : Boolean.TRUE;
			}
			Object result = (first instanceof String sql && sends(name)) ? send(proxy, sql, method, arguments)
					: invoke(method, arguments);
			return (result instanceof Statement statement && !(result instanceof PreparedStatement)) ? proxy(statement,
					Statement.class, new Handler(statement, (late, sql) -> this.check.check(proxy, sql))) : result;
		}

		private static boolean sends(String name) {
			return name.startsWith("prepare") || name.startsWith("execute") || name.equals("addBatch");
		}

		private @Nullable Object send(Object proxy, String sql, Method method, @Nullable Object @Nullable [] arguments)
				throws Throwable {
			this.check.check(proxy, sql);
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

	}

}
