package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;

import org.aopalliance.aop.Advice;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads the transaction attributes of Spring, from whatever source the application has
 * ({@code @Transactional} or others). Thread-safe.
 */
public final class AttributeMethodTransactions implements MethodTransactions {

	private final Supplier<List<TransactionAttributeSource>> sources;

	// with several, a transaction of another manager than the method's stays active
	private final Supplier<Boolean> singleManager;

	/**
	 * Create an instance.
	 * @param sources the sources; asked for at the first call
	 * @param beanFactory where transaction managers are counted, at the first call
	 */
	public AttributeMethodTransactions(ObjectProvider<TransactionAttributeSource> sources,
			ListableBeanFactory beanFactory) {
		this.sources = SingletonSupplier.of(() -> sources.orderedStream().toList());
		this.singleManager = SingletonSupplier.of(() -> BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory,
				TransactionManager.class, true, false).length == 1);
	}

	@Override
	public boolean leavesCallers(Method method, Class<?> targetClass) {
		return this.singleManager.get() && this.sources.get().stream().anyMatch((source) -> {
			TransactionAttribute attribute = source.getTransactionAttribute(method, targetClass);
			return attribute != null
					&& (attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
							|| attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
		});
	}

	@Override
	public boolean isTransactional(Advice advice) {
		return advice instanceof TransactionAspectSupport;
	}

}
