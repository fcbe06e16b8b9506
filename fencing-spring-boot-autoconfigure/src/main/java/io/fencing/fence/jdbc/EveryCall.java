package io.fencing.fence.jdbc;

import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Advisor;

/**
 * Advises all methods of a bean. Without a pointcut a proxy need not look up what applies
 * to each call.
 *
 * @param interceptor the advice
 */
record EveryCall(MethodInterceptor interceptor) implements Advisor {

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

}
