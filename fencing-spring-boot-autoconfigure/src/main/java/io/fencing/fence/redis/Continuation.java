package io.fencing.fence.redis;

import io.fencing.context.OperationContext;
import io.fencing.context.OperationContext.Scope;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Delivers what a command answers inside of its operation, on the driver's thread, so
 * that the commands that are composed after it belong to the same operation.
 *
 * @param <T> the type of what is delivered
 */
final class Continuation<T> implements CoreSubscriber<T> {

	private final CoreSubscriber<? super T> subscriber;

	private final OperationContext context;

	private Continuation(CoreSubscriber<? super T> subscriber, OperationContext context) {
		this.subscriber = subscriber;
		this.context = context;
	}

	static <T> Mono<T> of(Mono<T> answer, @Nullable OperationContext context) {
		return (context != null)
				? answer
					.transform(Operators.<T, T>lift((source, subscriber) -> new Continuation<T>(subscriber, context)))
				: answer;
	}

	static <T> Flux<T> of(Flux<T> answer, @Nullable OperationContext context) {
		return (context != null)
				? answer
					.transform(Operators.<T, T>lift((source, subscriber) -> new Continuation<T>(subscriber, context)))
				: answer;
	}

	@Override
	public Context currentContext() {
		return this.subscriber.currentContext();
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		this.subscriber.onSubscribe(subscription);
	}

	@Override
	public void onNext(T answer) {
		try (Scope scope = this.context.open()) {
			this.subscriber.onNext(answer);
		}
	}

	@Override
	public void onError(Throwable failure) {
		try (Scope scope = this.context.open()) {
			this.subscriber.onError(failure);
		}
	}

	@Override
	public void onComplete() {
		try (Scope scope = this.context.open()) {
			this.subscriber.onComplete();
		}
	}

}
