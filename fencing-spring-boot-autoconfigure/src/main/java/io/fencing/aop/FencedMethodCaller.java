package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.function.BiPredicate;
import java.util.function.Supplier;

import io.fencing.FencedOperation;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * Turns a call of a {@link FencedOperation} method into a call of
 * {@link FencedOperations}, whoever has intercepted it. Thread-safe.
 */
public final class FencedMethodCaller {

	private final FencedOperationSource source;

	private final Supplier<FencedOperations> operations;

	private final Supplier<MethodTransactions> transactions;

	private final BiPredicate<String, Boolean> enforced;

	/**
	 * Create a caller.
	 * @param source finds what is annotated
	 * @param operations runs the operations; asked for at the first call
	 * @param transactions knows the transactions of methods; asked for at the first call
	 * @param enforced tells of the name of an operation, and of whether it has an
	 * identity, whether it may fail; else a call whose resource cannot be told runs as it
	 * is
	 */
	public FencedMethodCaller(FencedOperationSource source, Supplier<FencedOperations> operations,
			Supplier<MethodTransactions> transactions, BiPredicate<String, Boolean> enforced) {
		this.source = source;
		this.operations = SingletonSupplier.of(operations);
		this.transactions = SingletonSupplier.of(transactions);
		this.enforced = enforced;
	}

	/**
	 * Call a method.
	 * @param method the method
	 * @param target the object that it is called on, {@code null} for a static method
	 * @param arguments the arguments
	 * @param continuation runs the method
	 * @return its result
	 * @throws Exception what the method threw, unchanged, or the refusal
	 */
	@Nullable Object call(Method method, @Nullable Object target, @Nullable Object[] arguments, Continuation continuation)
			throws Exception {
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target) : method.getDeclaringClass();
		FencedOperationMetadata metadata = this.source.getMetadata(method, targetClass);
		Assert.state(metadata != null, () -> "Method '" + method + "' was advised, but is no fenced operation");
		Body body = new Body(continuation);
		FencedOperationRequest request;
		try {
			MethodTransactions declared = this.transactions.get();
			request = metadata.toRequest(target, arguments, declared.findLeftManager(method, targetClass),
					() -> declared.findTransaction(method, targetClass));
		}
		catch (InvalidFencedOperationException ex) {
			if (this.enforced.test(metadata.name(), metadata.journal() != null)) {
				throw ex;
			}
			return body.run();
		}
		Object result = this.operations.get().call(request, body);
		return (body.hasRun || result != null) ? result : metadata.skippedResult();
	}

	/**
	 * The rest of an intercepted call.
	 */
	@FunctionalInterface
	interface Continuation {

		/**
		 * Go on.
		 * @return the result
		 * @throws Throwable what the method throws
		 */
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
