package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.fencing.FencedOperation;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.InvalidFencedOperationException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Turns a call of a {@link FencedOperation} method into a call of
 * {@link FencedOperations}. One class with two doors: {@link #invoke} under Spring
 * proxies, where {@link FencedOperationAdvisor} holds it, and {@link #around} where
 * AspectJ weaves it. Under Spring the object is no bean of its own: an auto-proxy creator
 * would apply it a second time.
 *
 * <p>
 * Thread-safe.
 */
@Aspect
public final class FencedOperationAspect implements MethodInterceptor {

	private final FencedOperationSource source;

	private final Supplier<FencedOperations> operations;

	private final Supplier<MethodTransactions> transactions;

	private final Predicate<String> enforced;

	/**
	 * Create an aspect.
	 * @param source finds what is annotated
	 * @param operations runs the operations; asked for at the first call
	 * @param transactions knows the transactions of methods; asked for at the first call
	 * @param enforced tells of the name of an operation whether it may fail; else a call
	 * whose resource cannot be told runs as it is
	 */
	public FencedOperationAspect(FencedOperationSource source, Supplier<FencedOperations> operations,
			Supplier<MethodTransactions> transactions, Predicate<String> enforced) {
		this.source = source;
		this.operations = SingletonSupplier.of(operations);
		this.transactions = SingletonSupplier.of(transactions);
		this.enforced = enforced;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return call(invocation.getMethod(), invocation.getThis(), invocation.getArguments(), invocation::proceed);
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
		Method method = ((MethodSignature) joinPoint.getSignature()).getMethod();
		return call(method, joinPoint.getTarget(), joinPoint.getArgs(), joinPoint::proceed);
	}

	private @Nullable Object call(Method method, @Nullable Object target, @Nullable Object[] arguments,
			Continuation continuation) throws Exception {
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target) : method.getDeclaringClass();
		FencedOperationMetadata metadata = this.source.getMetadata(method, targetClass);
		Assert.state(metadata != null, () -> "Method '" + method + "' was advised, but is no fenced operation");
		Body body = new Body(continuation);
		FencedOperationRequest request;
		try {
			request = metadata.toRequest(target, arguments, this.transactions.get().leavesCallers(method, targetClass));
		}
		catch (InvalidFencedOperationException ex) {
			if (this.enforced.test(metadata.name())) {
				throw ex;
			}
			return body.run();
		}
		Object result = this.operations.get().call(request, body);
		return body.hasRun ? result : metadata.skippedResult();
	}

	/**
	 * The rest of an intercepted call.
	 */
	@FunctionalInterface
	private interface Continuation {

		@Nullable Object proceed() throws Throwable;

	}

	/**
	 * Remembers whether it ran: one that was skipped has no result of its own.
	 */
	private static final class Body implements FencedBody<@Nullable Object, Exception> {

		private final Continuation continuation;

		private volatile boolean hasRun;

		Body(Continuation continuation) {
			this.continuation = continuation;
		}

		@Override
		public @Nullable Object run() throws Exception {
			this.hasRun = true;
			try {
				return this.continuation.proceed();
			}
			catch (Throwable ex) {
				return Body.<Exception>rethrow(ex);
			}
		}

		// the body may throw what its signature says, and a few languages say nothing
		@SuppressWarnings("unchecked")
		private static <E extends Throwable> @Nullable Object rethrow(Throwable throwable) throws E {
			throw (E) throwable;
		}

	}

}
