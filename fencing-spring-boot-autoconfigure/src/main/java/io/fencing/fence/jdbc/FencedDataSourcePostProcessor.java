package io.fencing.fence.jdbc;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.RawTargetAccess;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.InfrastructureProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;

/**
 * Lets every {@link DataSource} bean, which keeps its class, give operations connections
 * that tell of writes past the fence: by a connection of its own, a template made by hand
 * or a transaction manager that is no bean. Outside of operations and of transaction
 * scopes a connection is what it always was.
 */
public final class FencedDataSourcePostProcessor extends AbstractAdvisingBeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(FencedDataSourcePostProcessor.class);

	/**
	 * Create the post-processor.
	 * @param fences gives the fences; called at the first connection inside an operation
	 */
	public FencedDataSourcePostProcessor(Supplier<JdbcFences> fences) {
		FencedConnections connections = new FencedConnections(fences);
		this.advisor = new EveryCall((invocation) -> connect(connections, invocation));
		setProxyTargetClass(true);
	}

	private static @Nullable Object connect(FencedConnections connections, MethodInvocation invocation)
			throws Throwable {
		if (isIdentity(invocation.getMethod())) {
			return invocation.getThis();
		}
		Object result = invocation.proceed();
		return (result instanceof Connection connection && invocation.getMethod().getName().equals("getConnection")
				&& mayBeUsedInOperation() && invocation.getThis() instanceof DataSource dataSource)
						? connections.wrap(connection, ManagedDataSources.unwrap(dataSource)) : result;
	}

	private static boolean isIdentity(Method method) {
		return method.getDeclaringClass() == Transparent.class;
	}

	// for transactions it is the same as what is behind it, which the application may
	// have handed to a transaction manager
	@Override
	protected void customizeProxyFactory(ProxyFactory proxyFactory) {
		proxyFactory.addInterface(Transparent.class);
	}

	// one that is bound without a transaction, as with SUPPORTS, meets operations later,
	// and one that a read-only transaction of others has sent to a replica
	private static boolean mayBeUsedInOperation() {
		return OperationContext.getEnforced() != null || (TransactionSynchronizationManager.isSynchronizationActive()
				&& (!TransactionSynchronizationManager.isActualTransactionActive()
						|| TransactionSynchronizationManager.isCurrentTransactionReadOnly()));
	}

	@Override
	protected boolean isEligible(Class<?> targetClass) {
		return DataSource.class.isAssignableFrom(targetClass)
				&& (Proxy.isProxyClass(targetClass) || !isFinal(targetClass))
				&& !TransactionAwareDataSourceProxy.class.isAssignableFrom(targetClass)
				&& super.isEligible(targetClass);
	}

	// a class proxy runs a final method on itself, with empty fields
	private static boolean isFinal(Class<?> type) {
		return Modifier.isFinal(type.getModifiers()) || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
			.filter((method) -> method.getDeclaringClass() != Object.class)
			.map(Method::getModifiers)
			.anyMatch((modifiers) -> Modifier.isFinal(modifiers) && !Modifier.isStatic(modifiers)
					&& !Modifier.isPrivate(modifiers));
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof DataSource) || bean instanceof TransactionAwareDataSourceProxy) {
			return bean;
		}
		if (!isEligible(bean.getClass())) {
			return proxyInterfaces(bean, beanName);
		}
		try {
			return super.postProcessAfterInitialization(bean, beanName);
		}
		catch (AopConfigException ex) {
			return proxyInterfaces(bean, beanName);
		}
	}

	// a class that cannot be extended: nobody can ask for a bean by one that is not
	// public
	private Object proxyInterfaces(Object bean, String beanName) {
		if (Modifier.isPublic(bean.getClass().getModifiers())) {
			logger.warn(
					"Writes on connections that operations take from bean '{}' themselves, and reads that it sends "
							+ "to a replica, are not seen, since its type '{}' cannot be extended",
					beanName, bean.getClass().getName());
			return bean;
		}
		ProxyFactory factory = new ProxyFactory(bean);
		factory.addAdvisor(Objects.requireNonNull(this.advisor));
		customizeProxyFactory(factory);
		return factory.getProxy(getProxyClassLoader());
	}

	/**
	 * What the proxy is for transactions: that which is behind it.
	 */
	public interface Transparent extends InfrastructureProxy, RawTargetAccess {

		@Override
		Object getWrappedObject();

	}

}
