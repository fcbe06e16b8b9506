package io.fencing.operation;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Results that are completed after they have been returned. Those of a
 * {@link CompletionStage} are waited for before the leases are given back, others cannot
 * be.
 */
public final class DeferredResults {

	// told by their names, since none of them has to be there
	private static final Set<String> DEFERRED_TYPES = Set.of("org.reactivestreams.Publisher", "kotlinx.coroutines.Job",
			"kotlinx.coroutines.flow.Flow", "org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	private static final ClassValue<Boolean> DEFERRED = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isDeferred(type);
		}

	};

	private DeferredResults() {
	}

	/**
	 * Whether the end of a result can be told.
	 * @param type the declared type of the result
	 * @return {@code false} for a type whose results are completed later, unless callers
	 * can be given a {@link CompletableFuture} in place of it
	 */
	public static boolean isSupported(Class<?> type) {
		return CompletionStage.class.isAssignableFrom(type) ? type.isAssignableFrom(CompletableFuture.class)
				: type != Callable.class && !isDeferred(type);
	}

	/**
	 * Refuse a result whose end cannot be told.
	 * @param operation the name of the operation
	 * @param result the result
	 * @param <T> its type
	 * @return the result
	 * @throws InvalidFencedOperationException if it is completed later, and not a
	 * {@link CompletionStage}
	 */
	static <T extends @Nullable Object> T checked(String operation, T result) {
		if (result != null && !(result instanceof CompletionStage) && DEFERRED.get(result.getClass())) {
			throw new InvalidFencedOperationException("Operation '" + operation + "' returned a '"
					+ result.getClass().getName() + "', whose end cannot be told, so that its leases would be given"
					+ " back too early; return the finished result or a CompletionStage");
		}
		return result;
	}

	private static boolean isDeferred(Class<?> type) {
		return Future.class.isAssignableFrom(type) || Flow.Publisher.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null || isNamed(type);
	}

	private static boolean isNamed(@Nullable Class<?> type) {
		return type != null && (DEFERRED_TYPES.contains(type.getName()) || isNamed(type.getSuperclass())
				|| Arrays.stream(type.getInterfaces()).anyMatch(DeferredResults::isNamed));
	}

}
