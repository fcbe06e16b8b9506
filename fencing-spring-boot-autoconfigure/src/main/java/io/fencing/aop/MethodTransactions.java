package io.fencing.aop;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

/**
 * What a method says about transactions; without spring-tx it says nothing. Thread-safe.
 */
public interface MethodTransactions {

	/**
	 * No method says anything.
	 */
	MethodTransactions NONE = new MethodTransactions() {

		@Override
		public boolean leavesCallers(Method method, Class<?> targetClass) {
			return false;
		}

		@Override
		public boolean isTransactional(Advice advice) {
			return false;
		}

	};

	/**
	 * Whether a method runs outside a transaction that is active when it is called:
	 * {@code REQUIRES_NEW} and {@code NOT_SUPPORTED}. Where there are several transaction
	 * managers no method is taken to do so, since only its own manager's transaction is
	 * suspended.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return whether it does
	 */
	boolean leavesCallers(Method method, Class<?> targetClass);

	/**
	 * Whether an advice opens transactions.
	 * @param advice the advice
	 * @return whether it does
	 */
	boolean isTransactional(Advice advice);

}
