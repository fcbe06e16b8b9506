package io.fencing.aop;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Intercepts the calls of {@code @FencedOperation} methods. One class with two doors:
 * {@link #invoke} under Spring proxies, where {@link FencedOperationAdvisor} holds it,
 * and {@link #around} where AspectJ weaves it and makes the one instance. Under Spring
 * the object is no bean of its own: an auto-proxy creator would apply it a second time.
 *
 * <p>
 * Thread-safe.
 */
@Aspect
public final class FencedOperationAspect implements MethodInterceptor {

	private volatile @Nullable FencedMethodCaller caller;

	private volatile boolean disabled;

	/**
	 * Create an aspect that refuses calls until it has a {@link #setCaller caller}; for
	 * AspectJ.
	 */
	public FencedOperationAspect() {
	}

	/**
	 * Create an aspect.
	 * @param caller makes the calls
	 */
	FencedOperationAspect(FencedMethodCaller caller) {
		this.caller = caller;
	}

	/**
	 * Bind to an application, or end that.
	 * @param caller makes the calls, {@code null} to refuse them
	 */
	void setCaller(@Nullable FencedMethodCaller caller) {
		this.caller = caller;
	}

	@Nullable FencedMethodCaller getCaller() {
		return this.caller;
	}

	/**
	 * Say whether calls go on as they are, since fencing is switched off.
	 * @param disabled whether they do
	 */
	void setDisabled(boolean disabled) {
		this.disabled = disabled;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return required(invocation.getMethod()).call(invocation.getMethod(), invocation.getThis(),
				invocation.getArguments(), invocation::proceed);
	}

	/**
	 * Run a woven method.
	 * @param joinPoint the execution of the method
	 * @return its result
	 * @throws Throwable what the method threw, unchanged, or the refusal
	 */
	@Around("execution(@io.fencing.FencedOperation * *(..))"
			+ " || (execution(public !static * *(..)) && @within(io.fencing.FencedOperation))")
	public @Nullable Object around(ProceedingJoinPoint joinPoint) throws Throwable {
		if (this.disabled) {
			return joinPoint.proceed();
		}
		Method method = ((MethodSignature) joinPoint.getSignature()).getMethod();
		return required(method).call(method, joinPoint.getTarget(), joinPoint.getArgs(), joinPoint::proceed);
	}

	private FencedMethodCaller required(Method method) {
		FencedMethodCaller current = this.caller;
		Assert.state(current != null,
				() -> "Method '" + method.getDeclaringClass().getName() + "." + method.getName()
						+ "' is woven as a fenced operation, but no application context with fencing runs;"
						+ " call it when the context has started");
		return current;
	}

}
