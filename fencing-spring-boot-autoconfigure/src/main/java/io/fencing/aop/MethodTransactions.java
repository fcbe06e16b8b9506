package io.fencing.aop;

import java.lang.reflect.Method;

import io.fencing.OperationTransaction;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

/**
 * What a method says about transactions; without spring-tx it says nothing. Thread-safe.
 */
public interface MethodTransactions {

	/**
	 * No method says anything.
	 */
	MethodTransactions NONE = new MethodTransactions() {

		@Override
		public @Nullable String findLeftManager(Method method, Class<?> targetClass) {
			return null;
		}

		@Override
		public OperationTransaction findTransaction(Method method, Class<?> targetClass) {
			return OperationTransaction.DEFAULT;
		}

		@Override
		public boolean isTransactional(Advice advice) {
			return false;
		}

	};

	/**
	 * The transaction manager whose transaction, if one is active when the method is
	 * called, the method runs outside of: {@code REQUIRES_NEW} and {@code NOT_SUPPORTED}.
	 * Transactions of other managers stay active.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return the bean name of the manager, {@code null} if the method leaves no
	 * transaction or its manager cannot be told
	 */
	@Nullable String findLeftManager(Method method, Class<?> targetClass);

	/**
	 * The transaction that a method declares, for the one that begins it in the method's
	 * place.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return the transaction; if it declares none, one that is rolled back whatever the
	 * method throws
	 * @throws io.fencing.InvalidFencedOperationException if it cannot be begun in the
	 * method's place
	 */
	OperationTransaction findTransaction(Method method, Class<?> targetClass);

	/**
	 * Whether an advice opens transactions.
	 * @param advice the advice
	 * @return whether it does
	 */
	boolean isTransactional(Advice advice);

}
