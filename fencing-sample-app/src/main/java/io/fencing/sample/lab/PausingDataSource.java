package io.fencing.sample.lab;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Plays the long garbage collection, or the frozen virtual machine, of one worker: at the
 * last moment before the next statement of its next connection is sent to the database.
 * Whatever was checked in this JVM has been checked by then.
 */
final class PausingDataSource extends DelegatingDataSource {

	private final Map<Thread, Runnable> pauses = new ConcurrentHashMap<>();

	PausingDataSource(DataSource target) {
		super(target);
	}

	/**
	 * Have the calling thread held up before its next connection sends its first
	 * statement.
	 * @param pause what holds it up
	 */
	void pauseNextConnection(Runnable pause) {
		this.pauses.put(Thread.currentThread(), pause);
	}

	@Override
	public Connection getConnection() throws SQLException {
		Runnable pause = this.pauses.remove(Thread.currentThread());
		Connection connection = super.getConnection();
		return (pause != null) ? proxy(Connection.class, connection, new Once(pause)) : connection;
	}

	private static <T> T proxy(Class<T> type, T target, Runnable beforeExecution) {
		InvocationHandler handler = (proxy, method, args) -> {
			if (method.getName().startsWith("execute")) {
				beforeExecution.run();
			}
			return wrap(invoke(target, method, args), beforeExecution);
		};
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	private static @Nullable Object wrap(@Nullable Object result, Runnable beforeExecution) {
		if (result instanceof CallableStatement statement) {
			return proxy(CallableStatement.class, statement, beforeExecution);
		}
		if (result instanceof PreparedStatement statement) {
			return proxy(PreparedStatement.class, statement, beforeExecution);
		}
		return (result instanceof Statement statement) ? proxy(Statement.class, statement, beforeExecution) : result;
	}

	private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] args)
			throws Throwable {
		try {
			return method.invoke(target, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * Runs on the first call only.
	 */
	private static final class Once implements Runnable {

		private @Nullable Runnable task;

		Once(Runnable task) {
			this.task = task;
		}

		@Override
		public void run() {
			Runnable first = this.task;
			this.task = null;
			if (first != null) {
				first.run();
			}
		}

	}

}
