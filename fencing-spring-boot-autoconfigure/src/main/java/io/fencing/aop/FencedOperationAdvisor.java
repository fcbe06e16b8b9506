package io.fencing.aop;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Applies the aspect to the beans that have fenced operations. By default it runs inside
 * of retries and outside of transactions.
 */
public final class FencedOperationAdvisor extends AbstractPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	private final transient Pointcut pointcut;

	private final transient FencedOperationAspect aspect;

	/**
	 * Create an advisor.
	 * @param source finds what is annotated
	 * @param aspect the advice
	 * @param order {@code fencing.aspect.order}; a lower number is further outside
	 */
	public FencedOperationAdvisor(FencedOperationSource source, FencedOperationAspect aspect, int order) {
		this.pointcut = new SourcePointcut(source);
		this.aspect = aspect;
		setOrder(order);
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.aspect;
	}

	/**
	 * Matches what the source knows as an operation.
	 */
	private static final class SourcePointcut extends StaticMethodMatcherPointcut {

		private final FencedOperationSource source;

		SourcePointcut(FencedOperationSource source) {
			this.source = source;
			setClassFilter(source::isCandidate);
		}

		@Override
		public boolean matches(Method method, Class<?> targetClass) {
			return this.source.isFenced(method, targetClass);
		}

	}

}
