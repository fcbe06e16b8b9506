package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.MappedQuerySpec;
import org.springframework.jdbc.core.simple.JdbcClient.ResultQuerySpec;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.support.JdbcAccessor;
import org.springframework.util.ReflectionUtils;

/**
 * Sends what goes through a {@link JdbcClient} by the fence of its data source. Needed
 * although its template is fenced: settings for one statement, such as a fetch size, make
 * the client use a plain copy of the template. Thread-safe.
 */
final class FencedJdbcClient {

	private static final Logger logger = LoggerFactory.getLogger(FencedJdbcClient.class);

	private static final Set<Class<?>> SPECS = Set.of(StatementSpec.class, ResultQuerySpec.class,
			MappedQuerySpec.class);

	private final DataSource dataSource;

	private final FencedStatements statements;

	private FencedJdbcClient(DataSource dataSource, FencedStatements statements) {
		this.dataSource = dataSource;
		this.statements = statements;
	}

	/**
	 * Wrap a client.
	 * @param client the client
	 * @param beanName the name of its bean
	 * @param statements checks statements
	 * @return the client behind its fence
	 */
	static JdbcClient wrap(JdbcClient client, String beanName, FencedStatements statements) {
		DataSource dataSource = findDataSource(client);
		if (dataSource == null) {
			logger
				.warn("Bean '{}' of type '{}' may go by no fence; make it with JdbcClient.create(JdbcTemplate) from a "
						+ "JdbcTemplate that is a bean", beanName, client.getClass().getName());
			return client;
		}
		FencedJdbcClient fenced = new FencedJdbcClient(dataSource, statements);
		return fenced.proxy(JdbcClient.class, (proxy, method, arguments) -> {
			Object result = invoke(client, method, arguments);
			return (result instanceof StatementSpec spec && arguments != null)
					? fenced.wrap(spec, StatementSpec.class, (String) arguments[0]) : result;
		});
	}

	private static @Nullable DataSource findDataSource(JdbcClient client) {
		AtomicReference<@Nullable DataSource> found = new AtomicReference<>();
		ReflectionUtils.doWithFields(client.getClass(), (field) -> {
			ReflectionUtils.makeAccessible(field);
			if (field.get(client) instanceof NamedParameterJdbcOperations operations
					&& operations.getJdbcOperations() instanceof JdbcAccessor template) {
				found.set(template.getDataSource());
			}
		}, (field) -> field.getType() == NamedParameterJdbcOperations.class);
		return found.get();
	}

	private Object wrap(Object spec, Class<?> type, String sql) {
		return proxy(type, (proxy, method, arguments) -> {
			if (method.getDeclaringClass() == Object.class) {
				return invoke(spec, method, arguments);
			}
			Class<?> result = method.getReturnType();
			if (SPECS.contains(result)) {
				Object next = invoke(spec, method, arguments);
				return (next != spec) ? wrap(next, result, sql) : proxy;
			}
			return this.statements.execute(this.dataSource,
					() -> TemplateStatement.of(method.getName(), this.statements.text(sql)),
					() -> invoke(spec, method, arguments));
		});
	}

	private static Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	@SuppressWarnings("unchecked")
	private <T> T proxy(Class<T> type, InvocationHandler handler) {
		return (T) Proxy.newProxyInstance(FencedJdbcClient.class.getClassLoader(), new Class<?>[] { type }, handler);
	}

}
