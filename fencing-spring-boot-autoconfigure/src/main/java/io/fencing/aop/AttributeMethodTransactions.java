package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationTransaction;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.TransactionDefinition;
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

	private final TransactionManagerNames managers;

	/**
	 * Create an instance.
	 * @param sources the sources; asked for at the first call
	 * @param beanFactory where transaction managers are found, at the first call
	 */
	public AttributeMethodTransactions(ObjectProvider<TransactionAttributeSource> sources,
			ConfigurableListableBeanFactory beanFactory) {
		this.sources = SingletonSupplier.of(() -> sources.orderedStream().toList());
		this.managers = new TransactionManagerNames(beanFactory);
	}

	@Override
	public @Nullable String findLeftManager(Method method, Class<?> targetClass) {
		return this.sources.get()
			.stream()
			.map((source) -> source.getTransactionAttribute(method, targetClass))
			.filter((attribute) -> attribute != null && leavesCallers(attribute))
			.map((attribute) -> this.managers.find(attribute.getQualifier(), targetClass))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	@Override
	public OperationTransaction findTransaction(Method method, Class<?> targetClass) {
		TransactionAttribute attribute = this.sources.get()
			.stream()
			.map((source) -> source.getTransactionAttribute(method, targetClass))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
		if (attribute == null) {
			return OperationTransaction.DEFAULT;
		}
		// a savepoint could be rolled back, and its record be committed
		if (attribute.getPropagationBehavior() != TransactionDefinition.PROPAGATION_REQUIRED
				|| attribute.isReadOnly()) {
			throw new InvalidFencedOperationException("its transaction is read-only or of another propagation than "
					+ "REQUIRED, so that its record would not commit or roll back with its work; change "
					+ "@Transactional, or remove 'operationId'");
		}
		return new OperationTransaction(this.managers.find(attribute.getQualifier(), targetClass),
				attribute.getIsolationLevel(), attribute.getTimeout(), attribute::rollbackOn);
	}

	private static boolean leavesCallers(TransactionAttribute attribute) {
		return attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
				|| attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
	}

	@Override
	public boolean isTransactional(Advice advice) {
		return advice instanceof TransactionAspectSupport;
	}

}
