package io.fencing.aop;

import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import io.fencing.FencedOperationRequest;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationTransaction;
import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.expression.EvaluationContext;

/**
 * What is known about the identity of an operation before it is called. Immutable.
 *
 * @param method the method
 * @param operationId names the identity
 * @param input what counts as its input, {@code null} for all arguments
 * @param external whether it has effects outside the database
 * @param notRepeatableFor exceptions that are final
 */
record JournalMetadata(FencedMethod method, ResourceTemplate operationId, @Nullable ResourceTemplate input,
		boolean external, Set<Class<? extends Throwable>> notRepeatableFor) {

	/**
	 * What results are read as.
	 * @return the declared type of the method
	 */
	Type resultType() {
		return GenericTypeResolver.resolveType(this.method.method().getGenericReturnType(), this.method.targetClass());
	}

	/**
	 * Verify at start what can be known of its inputs by then.
	 * @param supported whether values of a type can be part of an input
	 * @throws InvalidFencedOperationException if those of a parameter cannot
	 */
	void verifyInput(Predicate<Type> supported) {
		if (this.input != null) {
			return;
		}
		for (Parameter parameter : this.method.method().getParameters()) {
			if (!supported
				.test(GenericTypeResolver.resolveType(parameter.getParameterizedType(), this.method.targetClass()))) {
				throw new InvalidFencedOperationException("parameter '" + parameter.getName() + "' of type '"
						+ parameter.getType().getName() + "' counts as its input and cannot be written; say what "
						+ "counts with attribute 'input'");
			}
		}
	}

	/**
	 * Add the identity of one call to its request.
	 * @param request the request
	 * @param context what expressions are evaluated in
	 * @param arguments the arguments
	 * @param transaction the transaction that the method declares
	 * @throws io.fencing.InvalidFencedOperationException if the arguments name no
	 * identity
	 */
	void addTo(FencedOperationRequest.Builder request, EvaluationContext context, @Nullable Object[] arguments,
			OperationTransaction transaction) {
		List<String> ids = new ArrayList<>();
		this.operationId.resolve(context, ids::add);
		if (ids.size() != 1) {
			throw this.method.invalid("attribute 'operationId' names " + ids.size() + " identities",
					"the body did not run, name one", null);
		}
		request.operationId(ids.get(0))
			.input((this.input != null) ? this.input.value(context) : Arrays.asList(arguments))
			.resultType(resultType())
			.external(this.external)
			.notRepeatableFor(this.notRepeatableFor)
			.transaction(transaction);
	}

}
