package io.fencing.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.fencing.FencedOperationRequest;
import io.fencing.OnBusy;
import io.fencing.OperationTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;

/**
 * Everything that is known about an operation before it is called. Immutable.
 *
 * @param method the method
 * @param name the name of the operation
 * @param resources the templates of its resources, at least one
 * @param leaseTime how long one grant lasts
 * @param waitTime how long to wait for it
 * @param maxHold the longest time that it is kept
 * @param minHold the shortest time that it stays taken
 * @param renew {@code false} not to renew it
 * @param onBusy what to do when it is not to be had
 * @param journal what makes its calls repeatable, {@code null} if nothing does
 * @param beanFactory finds the beans that expressions refer to
 */
record FencedOperationMetadata(FencedMethod method, String name, List<ResourceTemplate> resources,
		@Nullable Duration leaseTime, @Nullable Duration waitTime, @Nullable Duration maxHold,
		@Nullable Duration minHold, @Nullable Boolean renew, @Nullable OnBusy onBusy, @Nullable JournalMetadata journal,
		BeanFactory beanFactory) {

	/**
	 * Make the request of one call.
	 * @param target the object that is called, if there is one
	 * @param arguments the arguments
	 * @param leftManager bean name of the transaction manager whose active transaction
	 * the body runs outside of, {@code null} if there is none
	 * @param transaction the transaction that the method declares
	 * @return the request
	 * @throws io.fencing.InvalidFencedOperationException if the arguments name no
	 * resource
	 */
	FencedOperationRequest toRequest(@Nullable Object target, @Nullable Object[] arguments,
			@Nullable String leftManager, Supplier<OperationTransaction> transaction) {
		EvaluationContext context = context(target, arguments);
		FencedOperationRequest.Builder request = request().ownTransaction(leftManager);
		this.resources.forEach((resource) -> resource.resolve(context, request::resource));
		if (this.journal != null) {
			this.journal.addTo(request, context, arguments, transaction.get());
		}
		return request.build();
	}

	/**
	 * What requests have in common.
	 * @return a request without resources
	 */
	FencedOperationRequest.Builder request() {
		return FencedOperationRequest.builder(this.name)
			.leaseTime(this.leaseTime)
			.waitTime(this.waitTime)
			.maxHold(this.maxHold)
			.minHold(this.minHold)
			.renew(this.renew)
			.onBusy(this.onBusy);
	}

	// Spring's parameter is an array of nullable elements, which this JDK does not show
	@SuppressWarnings("NullAway")
	private EvaluationContext context(@Nullable Object target, @Nullable Object[] arguments) {
		Method specific = this.method.method();
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
				new ExpressionRoot(specific, arguments, target), specific, arguments,
				DefaultParameterNameDiscoverer.getSharedInstance());
		context.setBeanResolver(new BeanFactoryResolver(this.beanFactory));
		return context;
	}

	/**
	 * What a call returns that was skipped.
	 * @return {@code null}, an empty optional, or a stage that is completed with
	 * {@code null}
	 * @throws io.fencing.InvalidFencedOperationException if the method returns a
	 * primitive, which only application.yml can have made skip
	 */
	@Nullable Object skippedResult() {
		Class<?> type = this.method.method().getReturnType();
		if (type.isPrimitive() && type != void.class) {
			throw this.method.invalid("a skipped call has no result, but it returns '" + type + "'",
					"remove 'on-busy: skip' from 'fencing.operations." + this.name + "'", null);
		}
		if (CompletionStage.class.isAssignableFrom(type)) {
			return CompletableFuture.completedFuture(null);
		}
		if (type == Optional.class) {
			return Optional.empty();
		}
		if (type == OptionalInt.class) {
			return OptionalInt.empty();
		}
		if (type == OptionalLong.class) {
			return OptionalLong.empty();
		}
		return (type == OptionalDouble.class) ? OptionalDouble.empty() : null;
	}

}
