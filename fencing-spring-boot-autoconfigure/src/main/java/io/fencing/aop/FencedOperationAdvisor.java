package io.fencing.aop;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.DisposableBean;

/**
 * Applies the aspect to the beans that have fenced operations, as far as AspectJ has not
 * woven it into them, and binds the woven one to the application. By default it runs
 * inside of retries and outside of transactions.
 */
public final class FencedOperationAdvisor extends AbstractPointcutAdvisor implements DisposableBean {

	private static final long serialVersionUID = 1L;

	private final transient Pointcut pointcut;

	private final transient FencedOperationAspect aspect;

	private final transient FencedMethodCaller caller;

	/**
	 * Create an advisor.
	 * @param source finds what is annotated
	 * @param caller makes the calls
	 * @param order {@code fencing.aspect.order}; a lower number is further outside
	 */
	public FencedOperationAdvisor(FencedOperationSource source, FencedMethodCaller caller, int order) {
		this.pointcut = new SourcePointcut(source);
		this.aspect = new FencedOperationAspect(caller);
		this.caller = caller;
		setOrder(order);
		// as early as beans may be called
		FencedOperationAspect woven = Weaving.aspect();
		if (woven != null) {
			woven.setCaller(caller);
		}
	}

	@Override
	public void destroy() {
		FencedOperationAspect woven = Weaving.aspect();
		if (woven != null && woven.getCaller() == this.caller) {
			woven.setCaller(null);
		}
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
			return this.source.isFenced(method, targetClass)
					&& !Weaving.isWoven(AopUtils.getMostSpecificMethod(method, targetClass));
		}

	}

}
