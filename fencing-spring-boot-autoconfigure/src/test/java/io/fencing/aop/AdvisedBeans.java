package io.fencing.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingListener;
import io.fencing.HeldResource;
import io.micrometer.core.annotation.Timed;
import io.micrometer.observation.annotation.Observed;
import jakarta.validation.constraints.NotNull;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;

import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.validation.annotation.Validated;

/**
 * Beans with one other advice each, which they switch on themselves, and one with all of
 * them.
 */
final class AdvisedBeans {

	private AdvisedBeans() {
	}

	private static List<String> transactionEvents() {
		List<String> events = new CopyOnWriteArrayList<>();
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				events.add("committed by " + FencingContext.required().getOperation());
			}

		});
		return events;
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ All.class, Handed.class, Limited.class, Retried.class, RetriedByLibrary.class, Secured.class,
			SecuredLate.class, Transacting.class, Cached.class, Checked.class, Measured.class, Noted.class,
			Leases.class })
	static class Everything {

	}

	/** Remembers who has taken leases. */
	static class Leases implements FencingListener {

		final List<String> acquired = new CopyOnWriteArrayList<>();

		@Override
		public void onAcquired(String operation, HeldResource held, Duration waited) {
			this.acquired.add(operation);
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Note {

	}

	/** What an application writes for itself. */
	@Aspect
	static class NotingAspect {

		final List<String> notes = new CopyOnWriteArrayList<>();

		@Around("@annotation(io.fencing.aop.AdvisedBeans.Note)")
		Object note(ProceedingJoinPoint call) throws Throwable {
			this.notes.add(FencingContext.required().getOperation());
			return call.proceed();
		}

	}

	@Validated
	static class All {

		@Async
		@ConcurrencyLimit(1)
		@Retryable
		@org.springframework.retry.annotation.Retryable
		@PreAuthorize("hasRole('CLERK')")
		@PostAuthorize("hasRole('CLERK')")
		@FencedOperation("a")
		@Transactional
		@Cacheable("answers")
		@Observed
		@Timed
		@Note
		void run() {
		}

	}

	@EnableAsync
	static class Handed {

		@Async
		@FencedOperation("a")
		void run() {
		}

	}

	@EnableResilientMethods
	static class Limited {

		final CountDownLatch entered = new CountDownLatch(1);

		final CountDownLatch leave = new CountDownLatch(1);

		@ConcurrencyLimit(1)
		@FencedOperation("limited:#{#id}")
		void run(String id) throws InterruptedException {
			this.entered.countDown();
			this.leave.await();
		}

	}

	@EnableResilientMethods
	static class Retried {

		@Retryable
		@FencedOperation("a")
		void run() {
		}

	}

	@EnableRetry
	static class RetriedByLibrary {

		@org.springframework.retry.annotation.Retryable
		@FencedOperation("a")
		void run() {
		}

	}

	@EnableMethodSecurity
	static class Secured {

		@PreAuthorize("hasRole('CLERK')")
		@FencedOperation("a")
		void run() {
		}

	}

	@EnableMethodSecurity
	static class SecuredLate {

		@PostAuthorize("hasRole('CLERK')")
		@FencedOperation("a")
		@Transactional
		List<String> run() {
			return transactionEvents();
		}

	}

	static class Transacting {

		@FencedOperation("a")
		@Transactional
		List<String> run() {
			return transactionEvents();
		}

	}

	@EnableCaching
	static class Cached {

		final AtomicInteger calls = new AtomicInteger();

		@FencedOperation("a")
		@Cacheable("answers")
		int run() {
			return this.calls.incrementAndGet();
		}

	}

	@Validated
	static class Checked {

		@FencedOperation("a")
		void run(@NotNull String argument) {
		}

	}

	static class Measured {

		@FencedOperation("a")
		@Observed
		@Timed
		void run() {
		}

	}

	@Import(NotingAspect.class)
	static class Noted {

		@FencedOperation("a")
		@Note
		void run() {
		}

	}

}
