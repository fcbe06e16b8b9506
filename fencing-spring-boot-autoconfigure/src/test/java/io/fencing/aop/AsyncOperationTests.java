package io.fencing.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseNotAcquiredException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Case 40: asynchronous operations on the executor of Spring Boot. The lease is that of
 * the body, not that of the call.
 */
class AsyncOperationTests {

	private static final String RESOURCE = "job:1";

	private final ApplicationContextRunner runner = FencedContextRunner.create();

	// virtual threads exist from Java 21 on; before it Spring Boot ignores the property
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void case40WhenCalledThenBodyHasTheLeaseAndCallerHasNone(boolean virtual) {
		run(virtual, this::callWhileInside);
	}

	private void callWhileInside(ApplicationContext context) throws Exception {
		Work work = context.getBean(Work.class);
		AtomicReference<FencingToken> token = new AtomicReference<>();
		AtomicReference<Thread> thread = new AtomicReference<>();
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch leave = new CountDownLatch(1);
		Callable<String> body = () -> {
			token.set(FencingContext.required().getToken());
			thread.set(Thread.currentThread());
			inside.countDown();
			return leave.await(10, TimeUnit.SECONDS) ? "done" : "late";
		};
		CompletableFuture<String> result = work.staged(body);
		assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(FencingContext.current()).isNull();
		assertThat(isLeased(context)).isTrue();
		assertThat(result).isNotDone();
		boolean virtual = context.getEnvironment().getRequiredProperty("spring.threads.virtual.enabled", boolean.class);
		assertThat(thread.get().isDaemon()).isEqualTo(virtual && Runtime.version().feature() >= 21);
		leave.countDown();
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isLeased(context)).isFalse();
		FencingToken first = token.get();
		work.nothing(body);
		await().untilAsserted(() -> assertThat(token.get()).isGreaterThan(first));
		await().until(() -> !isLeased(context));
		assertThat(FencingContext.current()).isNull();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void case40WhenCalledOftenThenBodiesDoNotOverlap(boolean virtual) {
		run(virtual, this::callOften);
	}

	private void callOften(ApplicationContext context) throws Exception {
		Work work = context.getBean(Work.class);
		AtomicInteger running = new AtomicInteger();
		List<Integer> seen = new CopyOnWriteArrayList<>();
		Callable<String> body = () -> {
			seen.add(running.incrementAndGet());
			// long enough to meet another one
			new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
			running.decrementAndGet();
			return "done";
		};
		List<CompletableFuture<String>> calls = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			calls.add(work.staged(body));
			work.nothing(body);
		}
		calls.forEach(CompletableFuture::join);
		await().untilAsserted(() -> assertThat(seen).hasSize(24).containsOnly(1));
	}

	@Test
	void case40WhenRefusedThenFutureOrHandlerIsTold() {
		run(false, this::callWhenBusy);
	}

	private void callWhenBusy(ApplicationContext context) throws Exception {
		Work work = context.getBean(Work.class);
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch leave = new CountDownLatch(1);
		CompletableFuture<String> first = work.staged(() -> {
			inside.countDown();
			return leave.await(10, TimeUnit.SECONDS) ? "done" : "late";
		});
		assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> work.stagedAtOnce(() -> "never").join())
			.withCauseInstanceOf(LeaseNotAcquiredException.class);
		work.nothingAtOnce(() -> "never");
		assertThat(context.getBean(Failures.class).uncaught.poll(10, TimeUnit.SECONDS))
			.isInstanceOf(LeaseNotAcquiredException.class);
		leave.countDown();
		assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo("done");
	}

	// a stage of the body is waited for on the body's thread
	@Test
	void case40WhenBodyReturnsAStageThenLeaseIsKeptUntilItCompletes() {
		run(false, this::callWithAStage);
	}

	private void callWithAStage(ApplicationContext context) throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CountDownLatch inside = new CountDownLatch(1);
		CompletableFuture<String> result = context.getBean(Work.class).later(() -> {
			inside.countDown();
			return work;
		});
		assertThat(inside.await(10, TimeUnit.SECONDS)).isTrue();
		await().until(() -> isLeased(context));
		assertThat(result).isNotDone();
		work.complete("done");
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isLeased(context)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(classes = { Early.class, PlainFuture.class })
	void case40WhenItCannotBeFencedThenRefusedAtStart(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidFencedOperationException.class)
				.hasMessageMatching(".*(handed to another thread inside of its lease|nobody can tell when).*"));
	}

	private void run(boolean virtual, ContextConsumer<ApplicationContext> test) {
		this.runner.withUserConfiguration(Asynchronous.class)
			.withPropertyValues("spring.threads.virtual.enabled=" + virtual)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				test.accept(context);
			});
	}

	private static boolean isLeased(ApplicationContext context) {
		return FencedContextRunner.isLeased(context, RESOURCE);
	}

	/** Asynchronous operations on one resource. */
	static class Work {

		@Async
		@FencedOperation(resource = RESOURCE, waitTime = "20s")
		CompletableFuture<String> staged(Callable<String> body) throws Exception {
			return CompletableFuture.completedFuture(body.call());
		}

		@Async
		@FencedOperation(resource = RESOURCE, waitTime = "20s")
		void nothing(Callable<String> body) throws Exception {
			body.call();
		}

		@Async
		@FencedOperation(resource = RESOURCE, waitTime = "0s")
		CompletableFuture<String> stagedAtOnce(Callable<String> body) throws Exception {
			return CompletableFuture.completedFuture(body.call());
		}

		@Async
		@FencedOperation(resource = RESOURCE, waitTime = "0s")
		void nothingAtOnce(Callable<String> body) throws Exception {
			body.call();
		}

		@Async
		@FencedOperation(resource = RESOURCE, waitTime = "0s")
		CompletableFuture<String> later(Callable<CompletableFuture<String>> body) throws Exception {
			return body.call();
		}

	}

	/** Has a result whose end cannot be told. */
	static class FutureWork {

		@Async
		@FencedOperation(RESOURCE)
		Future<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	/** What nobody else was told. */
	static class Failures {

		private final BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();

	}

	static class Configurer implements AsyncConfigurer {

		private final Failures failures;

		Configurer(Failures failures) {
			this.failures = failures;
		}

		@Override
		public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
			return (failure, method, arguments) -> this.failures.uncaught.add(failure);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@Import({ Work.class, Failures.class, Configurer.class })
	static class Asynchronous {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
	@Import(Work.class)
	static class Early {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@Import(FutureWork.class)
	static class PlainFuture {

	}

}
