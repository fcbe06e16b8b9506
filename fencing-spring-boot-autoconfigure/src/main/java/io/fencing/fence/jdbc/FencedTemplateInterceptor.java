package io.fencing.fence.jdbc;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.ClassUtils;

/**
 * Sends what goes through a {@link JdbcTemplate} by the fence of its data source. The
 * template's own calls of itself do not come here a second time. Thread-safe.
 */
final class FencedTemplateInterceptor implements MethodInterceptor {

	private static final Set<String> STATEMENTS = names(JdbcOperations.class);

	private static final Set<String> KNOWN = names(JdbcTemplate.class);

	private final Map<Method, Boolean> operations = new ConcurrentHashMap<>();

	private final FencedStatements statements;

	FencedTemplateInterceptor(FencedStatements statements) {
		this.statements = statements;
	}

	/**
	 * Whether an object is a template with such an interceptor.
	 * @param template the object
	 * @return whether it is
	 */
	static boolean isPresent(Object template) {
		return template instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof FencedTemplateInterceptor);
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		if (!(invocation.getThis() instanceof JdbcTemplate template) || !sends(invocation.getMethod().getName())) {
			return invocation.proceed();
		}
		DataSource dataSource = template.getDataSource();
		if (dataSource != null && OperationContext.get() == null && invocation.getArguments().length == 1
				&& invocation.getArguments()[0] instanceof ConnectionCallback<?> callback) {
			invocation.getArguments()[0] = this.statements.watch(dataSource, callback);
			return invocation.proceed();
		}
		return (dataSource != null)
				? this.statements.execute(dataSource, () -> statement(invocation), invocation::proceed)
				: invocation.proceed();
	}

	private TemplateStatement statement(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		// the first argument of what a subclass adds need not be a text
		return this.operations.computeIfAbsent(method, FencedTemplateInterceptor::isOperation)
				? TemplateStatement.of(method.getName(), invocation.getArguments(), this.statements::text)
				: TemplateStatement.unknown(method.getName());
	}

	private static boolean isOperation(Method method) {
		return ClassUtils.getInterfaceMethodIfPossible(method, method.getDeclaringClass())
			.getDeclaringClass() == JdbcOperations.class;
	}

	private static boolean sends(String method) {
		// what a subclass adds may send anything
		return STATEMENTS.contains(method) || !KNOWN.contains(method);
	}

	private static Set<String> names(Class<?> type) {
		return Arrays.stream(type.getMethods()).map(Method::getName).collect(Collectors.toUnmodifiableSet());
	}

}
