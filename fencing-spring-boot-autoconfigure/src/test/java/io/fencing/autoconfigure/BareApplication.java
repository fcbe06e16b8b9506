package io.fencing.autoconfigure;

import java.util.concurrent.Callable;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * An application that uses no optional library: run by a class loader that lacks some of
 * them.
 */
public final class BareApplication implements Callable<Long> {

	@Override
	public Long call() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.registerBean(LeaseCoordinator.class, () -> new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM));
			context.register(FencingAutoConfiguration.class, FencingAopAutoConfiguration.class,
					FencingContextAutoConfiguration.class, FencingJdbcAutoConfiguration.class);
			context.refresh();
			FencingToken token = context.getBean(FencedOperations.class)
				.call(FencedOperationRequest.of("work", "a"), () -> FencingContext.required().getToken());
			return (token != null) ? token.value() : 0;
		}
	}

}
