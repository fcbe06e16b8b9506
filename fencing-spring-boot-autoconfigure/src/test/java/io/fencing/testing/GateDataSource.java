package io.fencing.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Lets a test act at the last moment before a statement of a given thread is sent to the
 * database: signal somebody, and wait. Whatever this JVM checks has been checked by then.
 * Remembers what was sent. Thread-safe.
 */
public final class GateDataSource extends DelegatingDataSource {

	private final Map<Thread, Gate> gates = new ConcurrentHashMap<>();

	private final Map<Thread, List<String>> statements = new ConcurrentHashMap<>();

	public GateDataSource(DataSource target) {
		super(target);
	}

	/**
	 * Run an action, once, before the calling thread sends its next statement of a kind.
	 * @param kind which statements, by their SQL
	 * @param action the action
	 */
	public void beforeNextStatement(Predicate<String> kind, Runnable action) {
		this.gates.put(Thread.currentThread(), new Gate(kind, action));
	}

	/**
	 * Forget the action of the calling thread, if it has not run.
	 */
	public void open() {
		this.gates.remove(Thread.currentThread());
	}

	/**
	 * Take what the calling thread has sent since it last asked.
	 * @return the SQL of the statements, in order
	 */
	public List<String> takeStatements() {
		List<String> taken = this.statements.remove(Thread.currentThread());
		return (taken != null) ? taken : List.of();
	}

	@Override
	public Connection getConnection() throws SQLException {
		return proxy(Connection.class, super.getConnection(), null);
	}

	private <T> T proxy(Class<T> type, T target, String preparedSql) {
		InvocationHandler handler = (proxy, method, args) -> {
			String sql = (args != null && args.length > 0 && args[0] instanceof String text) ? text : preparedSql;
			if (method.getName().startsWith("execute")) {
				pass(String.valueOf(sql));
			}
			return wrap(invoke(target, method, args), sql);
		};
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	private Object wrap(Object result, String sql) {
		if (result instanceof CallableStatement statement) {
			return proxy(CallableStatement.class, statement, sql);
		}
		if (result instanceof PreparedStatement statement) {
			return proxy(PreparedStatement.class, statement, sql);
		}
		return (result instanceof Statement statement) ? proxy(Statement.class, statement, sql) : result;
	}

	private void pass(String sql) {
		Gate gate = this.gates.get(Thread.currentThread());
		if (gate != null && gate.kind().test(sql)) {
			this.gates.remove(Thread.currentThread());
			gate.action().run();
		}
		this.statements.computeIfAbsent(Thread.currentThread(), (thread) -> new ArrayList<>()).add(sql);
	}

	private static Object invoke(Object target, Method method, Object[] args) throws Throwable {
		try {
			return method.invoke(target, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private record Gate(Predicate<String> kind, Runnable action) {
	}

}
