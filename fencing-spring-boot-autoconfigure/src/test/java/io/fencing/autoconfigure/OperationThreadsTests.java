package io.fencing.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.LeaseLostException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.LossReason;
import io.fencing.OnBusy;
import io.fencing.UnfencedWriteException;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.lease.DefaultLeaseManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Operations and threads in an application that refuses unfenced writes, on real Redis
 * and PostgreSQL: what another thread has not been given, it does not have.
 */
class OperationThreadsTests {

	private static ConfigurableApplicationContext node;

	private static FencedOperations operations;

	private static JdbcTemplate jdbc;

	private final ExecutorService oneThread = Executors.newFixedThreadPool(1);

	private String id;

	@BeforeAll
	static void start() {
		node = LedgerApplication.start("fencing.unfenced-writes=reject");
		operations = node.getBean(FencedOperations.class);
		jdbc = node.getBean(JdbcTemplate.class);
		new JdbcTemplate(DataSourceBuilder.derivedFrom(jdbc.getDataSource()).build())
			.execute("CREATE TABLE account (id VARCHAR(200) PRIMARY KEY, balance BIGINT NOT NULL)");
	}

	@AfterAll
	static void stop() {
		node.close();
	}

	@BeforeEach
	void open(TestInfo test) {
		this.id = test.getTestMethod().orElseThrow().getName() + test.getDisplayName();
		node.getBean(Ledger.class).open(this.id);
	}

	@AfterEach
	void nothingIsLeft() {
		this.oneThread.shutdownNow();
		assertThat(FencingContext.current()).isNull();
		await().untilAsserted(() -> assertThat(node.getBean(DefaultLeaseManager.class).getHeldCount()).isZero());
	}

	// case 42: a one-thread pool, an operation that ends in some way, a plain write
	@ParameterizedTest
	@EnumSource
	void case42WhenOperationHasEndedOnAPooledThreadThenNothingIsLeftOnIt(Ending ending) throws Exception {
		Throwable failure = onPool(() -> {
			try {
				ending.call(this);
				return null;
			}
			catch (Throwable ex) {
				return ex;
			}
		});
		if (failure instanceof AssertionError) {
			throw (AssertionError) failure;
		}
		assertUnfenced(this.oneThread);
	}

	// case 42: children do not inherit
	@ParameterizedTest
	@EnumSource
	void case42WhenWorkIsStartedOnAnotherThreadThenItInheritsNothing(Start start) throws Exception {
		operations.run(request(this.id), () -> {
			assertUnfenced(start);
			FencingContext.required().checkHeld();
		});
	}

	// rule 4: every new transaction takes its own hold, and waits for none of the same
	// operation
	@ParameterizedTest
	@EnumSource
	void rule4WhenTaskIsCarriedThenItHoldsWithoutWaitingForTheOpenTransaction(Start start) throws Exception {
		node.getBean(Ledger.class).addSlowly(this.id, 1, () -> {
			FencingContext context = FencingContext.required();
			for (String note : List.of("plain", "in transaction")) {
				CompletableFuture<Void> written = new CompletableFuture<>();
				start.execute(context.wrap(() -> {
					assertThat(FencingContext.current()).isSameAs(context);
					insert(this.id + note, note.equals("in transaction"));
					written.complete(null);
				}));
				written.get(10, TimeUnit.SECONDS);
			}
			return null;
		});
		assertThat(balance(this.id)).isOne();
		assertThat(balance(this.id + "plain") + balance(this.id + "in transaction")).isZero();
	}

	@Test
	void whenTaskOutlivesItsOperationThenWhatItSendsIsRefused() throws Exception {
		CountDownLatch over = new CountDownLatch(1);
		AtomicReference<Future<?>> task = new AtomicReference<>();
		operations.run(request(this.id), () -> {
			CountDownLatch started = new CountDownLatch(1);
			task.set(this.oneThread.submit(FencingContext.required().wrap(() -> {
				started.countDown();
				over.await();
				assertEnded(() -> insert(this.id + "-late", false));
				assertEnded(() -> insert(this.id + "-late", true));
				assertEnded(() -> node.getBean(StringRedisTemplate.class).opsForValue().set(this.id, "late"));
				assertEnded(() -> node.getBean(Ledger.class).add(this.id, 1));
				return null;
			})));
			started.await();
		});
		over.countDown();
		task.get().get(10, TimeUnit.SECONDS);
		assertThat(balance(this.id)).isZero();
		assertThat(jdbc.queryForList("SELECT 1 FROM account WHERE id = ?", this.id + "-late")).isEmpty();
		assertThat(node.getBean(StringRedisTemplate.class).opsForValue().get(this.id)).isNull();
		assertUnfenced(this.oneThread);
	}

	// case 39: far beyond one lease time, the lease is there while the result is not
	@Test
	void case39WhenResultComesLaterThenLeaseIsRenewedUntilItIsThere() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		FencedOperationRequest request = FencedOperationRequest.builder("later")
			.resource(this.id)
			.leaseTime(Duration.ofMillis(300))
			.build();
		CompletableFuture<String> result = operations.call(request, () -> work);
		await().during(Duration.ofMillis(900)).atMost(Duration.ofSeconds(10)).until(this::isBusy);
		work.complete("done");
		assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isBusy()).isFalse();
	}

	private boolean isBusy() {
		FencedOperationRequest request = FencedOperationRequest.builder("busy")
			.resource(this.id)
			.waitTime(Duration.ZERO)
			.onBusy(OnBusy.SKIP)
			.build();
		return !operations.run(request, () -> {
		});
	}

	private static FencedOperationRequest request(String resource) {
		return FencedOperationRequest.of("work", resource);
	}

	private static void insert(String id, boolean inTransaction) {
		if (inTransaction) {
			new TransactionTemplate(node.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> insert(id, false));
		}
		else {
			jdbc.update("INSERT INTO account VALUES (?, 0)", id);
		}
	}

	private static long balance(String id) {
		return node.getBean(Ledger.class).read(id);
	}

	private <T> T onPool(Callable<T> task) throws Exception {
		return this.oneThread.submit(task).get(10, TimeUnit.SECONDS);
	}

	// another thread than this one, and without a context
	private void assertUnfenced(Executor executor) throws Exception {
		Thread here = Thread.currentThread();
		FutureTask<Void> task = new FutureTask<>(() -> {
			assertThat(Thread.currentThread()).isNotSameAs(here);
			assertThat(FencingContext.current()).isNull();
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> insert(this.id + "-unfenced", false));
			return null;
		});
		executor.execute(task);
		task.get(10, TimeUnit.SECONDS);
	}

	private static void assertEnded(Runnable work) {
		assertThatExceptionOfType(LeaseLostException.class).isThrownBy(work::run)
			.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(LossReason.ENDED));
	}

	/**
	 * How an operation ends on its thread.
	 */
	enum Ending {

		RESULT {
			@Override
			void call(OperationThreadsTests test) {
				node.getBean(Ledger.class).add(test.id, 1);
			}
		},

		// A > B > throw: after inner B, the current one is A again
		NESTED_AND_THROWN {
			@Override
			void call(OperationThreadsTests test) throws Exception {
				operations.run(request(test.id), () -> {
					FencingContext outer = FencingContext.required();
					assertThatExceptionOfType(IOException.class)
						.isThrownBy(() -> operations.run(request(test.id + "-inner"), () -> {
							assertThat(FencingContext.required().getParent()).isSameAs(outer);
							throw new IOException("inner");
						}));
					assertThat(FencingContext.current()).isSameAs(outer);
					insert(test.id + "-outer", true);
					throw new IOException("outer");
				});
			}
		},

		ERROR {
			@Override
			void call(OperationThreadsTests test) {
				operations.run(request(test.id), () -> {
					throw new StackOverflowError();
				});
			}
		},

		STAGE_CANCELLED {
			@Override
			void call(OperationThreadsTests test) {
				operations.call(request(test.id), () -> new CompletableFuture<>()).cancel(true);
			}
		},

		STAGE_FAILED {
			@Override
			void call(OperationThreadsTests test) {
				operations.call(request(test.id), () -> CompletableFuture.failedFuture(new IOException()));
			}
		},

		TASK_REJECTED {
			@Override
			void call(OperationThreadsTests test) {
				ExecutorService closed = Executors.newCachedThreadPool();
				closed.shutdown();
				operations.run(request(test.id), () -> closed.execute(FencingContext.required().wrap(() -> {
				})));
			}
		},

		BUSY {
			@Override
			void call(OperationThreadsTests test) {
				operations.run(request(test.id), () -> CompletableFuture.runAsync(() -> assertThatExceptionOfType(
						LeaseNotAcquiredException.class)
					.isThrownBy(() -> operations.run(
							FencedOperationRequest.builder("busy").resource(test.id).waitTime(Duration.ZERO).build(),
							() -> {
							})))
					.join());
			}
		},

		CARRIED_TASK_THROWN {
			@Override
			void call(OperationThreadsTests test) {
				AtomicReference<Runnable> carried = new AtomicReference<>();
				Runnable task = () -> {
					throw new IllegalStateException("from the task");
				};
				CompletableFuture<Void> over = new CompletableFuture<>();
				CompletableFuture.runAsync(() -> operations.call(request(test.id), () -> {
					carried.set(FencingContext.required().wrap(task));
					return over;
				})).join();
				try {
					carried.get().run();
				}
				finally {
					over.complete(null);
				}
			}
		};

		abstract void call(OperationThreadsTests test) throws Exception;

	}

	/**
	 * What starts work on another thread.
	 */
	enum Start implements Executor {

		THREAD {
			@Override
			public void execute(Runnable task) {
				new Thread(null, task, "child", 0, true).start();
			}
		},

		SUPPLY_ASYNC {
			@Override
			public void execute(Runnable task) {
				CompletableFuture.supplyAsync(() -> {
					task.run();
					return null;
				});
			}
		},

		COMMON_POOL {
			@Override
			public void execute(Runnable task) {
				ForkJoinPool.commonPool().execute(task);
			}
		},

		// in a pool of its own, so that the caller does not take part
		PARALLEL_STREAM {
			@Override
			public void execute(Runnable task) {
				ForkJoinPool pool = new ForkJoinPool(2);
				pool.execute(
						() -> IntStream.range(0, 2).parallel().filter((one) -> one == 1).forEach((one) -> task.run()));
				pool.shutdown();
			}
		},

		BOOT_EXECUTOR {
			@Override
			public void execute(Runnable task) {
				node.getBean(AsyncTaskExecutor.class).execute(task);
			}
		},

		VIRTUAL_THREAD {
			@Override
			public void execute(Runnable task) {
				try {
					Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
					start.invoke(null, task);
				}
				catch (ReflectiveOperationException ex) {
					throw new TestAbortedException(
							"NOT SHOWN: virtual threads need Java 21, this is " + Runtime.version());
				}
			}
		}

	}

}
