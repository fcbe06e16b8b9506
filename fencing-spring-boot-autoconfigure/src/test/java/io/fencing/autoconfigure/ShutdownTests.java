package io.fencing.autoconfigure;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.fencing.ApplicationShutdownException;
import io.fencing.FencedResourceFactory;
import io.fencing.LeaseLostException;
import io.fencing.autoconfigure.StoppingApplication.Jobs;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of operations while the application stops, wherever they run (case 64).
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class ShutdownTests {

	private final String url = TestServers.newH2Url();

	private final CountDownLatch entered = new CountDownLatch(1);

	private final CountDownLatch mayGoOn = new CountDownLatch(1);

	@ParameterizedTest
	@ValueSource(strings = { "thread", "scheduler", "executor", "virtual", "late executor", "listener" })
	void case64WhenContextClosesThenWhatRunsEndsAndItsLeaseGoesWhereverItRuns(String where, CapturedOutput output) {
		ConfigurableApplicationContext context = start(
				"spring.task.execution.shutdown.await-termination=" + where.startsWith("late"));
		Jobs jobs = context.getBean(Jobs.class);
		await().until(() -> jobs.getTicks() > 0);
		CompletableFuture<Void> job = new CompletableFuture<>();
		executor(where, context).execute(() -> {
			try {
				jobs.run(where, this::work);
				job.complete(null);
			}
			catch (Exception ex) {
				job.completeExceptionally(ex);
			}
		});
		await().until(() -> this.entered.getCount() == 0);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		await().until(context::isClosed);
		assertThat(isLeased(where)).as("the lease is kept while the job runs").isTrue();
		this.mayGoOn.countDown();
		closing.join();
		assertThat(job).isCompleted();
		assertThat(isDone(where)).isTrue();
		assertThat(ask("*:lease")).as("no lease is left").isEmpty();
		assertQuiet(output);
	}

	// an executor lets its running tasks end, so these may still start an operation
	@ParameterizedTest
	@ValueSource(strings = { "scheduler", "executor" })
	void case64WhenTaskOfAnExecutorRunsThenItMayStillStartAnOperation(String where, CapturedOutput output) {
		ConfigurableApplicationContext context = start("spring.lifecycle.timeout-per-shutdown-phase=20s");
		Jobs jobs = context.getBean(Jobs.class);
		CompletableFuture<Void> job = new CompletableFuture<>();
		executor(where, context).execute(() -> {
			try {
				work();
				jobs.run("first", () -> null);
				jobs.run("second", () -> null);
				job.complete(null);
			}
			catch (Exception ex) {
				job.completeExceptionally(ex);
			}
		});
		await().until(() -> this.entered.getCount() == 0);
		CountDownLatch others = stoppedOthers(context);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		await().until(() -> others.getCount() == 0);
		this.mayGoOn.countDown();
		closing.join();
		assertThat(job).succeedsWithin(1, TimeUnit.SECONDS);
		assertThat(isDone("first")).isTrue();
		assertThat(isDone("second")).isTrue();
		assertQuiet(output);
	}

	@Test
	void case64WhenOthersWaitThenTheyAreRefusedBeforeTheGraceIsOver(CapturedOutput output) {
		ConfigurableApplicationContext context = start();
		Jobs jobs = context.getBean(Jobs.class);
		Executor threads = new SimpleAsyncTaskExecutor("callers-");
		Future<?> first = run(threads, () -> jobs.run("a", this::work));
		await().until(() -> this.entered.getCount() == 0);
		Future<?> waiting = run(threads, () -> jobs.run("a", () -> null));
		CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close);
		assertThat(waiting).failsWithin(9, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(ApplicationShutdownException.class);
		assertThat(closing).isNotDone();
		this.mayGoOn.countDown();
		closing.join();
		assertThat(first).succeedsWithin(1, TimeUnit.SECONDS);
		assertQuiet(output);
	}

	@ParameterizedTest
	@CsvSource({ "true, a body that goes on before clients close", "false, a body that goes on after they have" })
	void case64WhenTheGraceIsOverThenNothingIsWritten(boolean beforeClientsClose, String description,
			CapturedOutput output) {
		ConfigurableApplicationContext context = start("fencing.shutdown.grace=100ms");
		Jobs jobs = context.getBean(Jobs.class);
		Executor threads = new SimpleAsyncTaskExecutor("callers-");
		Future<?> sql = run(threads, () -> jobs.run("sql", this::work));
		Future<?> redis = run(threads, () -> jobs.runCached("redis", this::work));
		await().until(() -> jobs.getTicks() > 0 && isLeased("sql") && isLeased("redis"));
		context.getBeanFactory().registerSingleton("afterLeases", afterLeases(() -> {
			if (beforeClientsClose) {
				this.mayGoOn.countDown();
				await().until(() -> sql.isDone() && redis.isDone());
			}
		}));
		context.close();
		this.mayGoOn.countDown();
		assertRefused(sql, LeaseLostException.class);
		assertRefused(redis, beforeClientsClose ? LeaseLostException.class : RuntimeException.class);
		assertThat(isDone("sql")).isFalse();
		assertThat(ask("written")).isEmpty();
		assertThat(output).contains("is lost (SHUTDOWN)");
		assertQuiet(output);
	}

	// a scheduler that goes on until the end, as await-termination asks for
	@Test
	void whenTickFiresAfterLeasesHaveEndedThenItIsSkipped(CapturedOutput output) {
		ConfigurableApplicationContext context = start("spring.task.scheduling.shutdown.await-termination=true",
				"spring.task.scheduling.shutdown.await-termination-period=5s");
		Jobs jobs = context.getBean(Jobs.class);
		await().until(() -> jobs.getTicks() > 0);
		context.getBeanFactory().registerSingleton("afterLeases", afterLeases(() -> {
			int before = jobs.getTicks();
			jobs.tick();
			jobs.tick();
			assertThat(jobs.getTicks()).isEqualTo(before);
			assertThatExceptionOfType(ApplicationShutdownException.class).isThrownBy(() -> jobs.run("a", () -> null));
		}));
		context.close();
		assertQuiet(output);
	}

	@Test
	void whenClosedAgainThenNothingHappens(CapturedOutput output) {
		ConfigurableApplicationContext context = start();
		context.stop();
		context.close();
		context.close();
		assertThat(context.isClosed()).isTrue();
		assertQuiet(output);
	}

	private static void assertRefused(Future<?> call, Class<? extends Exception> refusal) {
		assertThat(call).failsWithin(10, TimeUnit.SECONDS).withThrowableThat().withCauseInstanceOf(refusal);
	}

	private Void work() throws InterruptedException {
		this.entered.countDown();
		assertThat(this.mayGoOn.await(50, TimeUnit.SECONDS)).isTrue();
		return null;
	}

	private ConfigurableApplicationContext start(String... properties) {
		String[] all = new String[properties.length + 3];
		System.arraycopy(properties, 0, all, 0, properties.length);
		all[properties.length] = "spring.datasource.url=" + this.url;
		all[properties.length + 1] = "spring.data.redis.url=" + TestServers.redisUrl();
		all[properties.length + 2] = "fencing.coordinator.key-prefix=" + prefix();
		return StoppingApplication.start(all);
	}

	private String prefix() {
		return "s" + Integer.toHexString(this.url.hashCode());
	}

	private static Future<?> run(Executor threads, Work work) {
		return CompletableFuture.runAsync(() -> {
			try {
				work.run();
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, threads);
	}

	private static Executor executor(String where, ConfigurableApplicationContext context) {
		return switch (where) {
			case "scheduler" -> context.getBean("taskScheduler", Executor.class);
			case "executor", "late executor" -> context.getBean("applicationTaskExecutor", Executor.class);
			case "listener" -> (task) -> listen(context, task);
			// what Spring Boot makes where there are virtual threads
			default -> new SimpleAsyncTaskExecutor(where);
		};
	}

	private static void listen(ConfigurableApplicationContext context, Runnable task) {
		RedisMessageListenerContainer container = new RedisMessageListenerContainer();
		container.setConnectionFactory(context.getBean(RedisConnectionFactory.class));
		container.addMessageListener((Message message, byte[] pattern) -> task.run(), new ChannelTopic("shutdown"));
		container.afterPropertiesSet();
		container.start();
		context.getBeanFactory().registerSingleton("listeners", container);
		context.getBean(StringRedisTemplate.class).convertAndSend("shutdown", "go");
	}

	private static CountDownLatch stoppedOthers(ConfigurableApplicationContext context) {
		CountDownLatch stopped = new CountDownLatch(1);
		context.getBeanFactory()
			.registerSingleton("listener", new StopSignal(Integer.MAX_VALUE / 2 + 1, stopped::countDown));
		return stopped;
	}

	private static SmartLifecycle afterLeases(Runnable action) {
		return new StopSignal(1, action);
	}

	private boolean isDone(String name) {
		JdbcTemplate other = new JdbcTemplate(new DriverManagerDataSource(this.url, "sa", ""));
		return Boolean.TRUE
			.equals(other.queryForObject("SELECT COUNT(*) > 0 FROM done WHERE name = ?", Boolean.class, name));
	}

	private boolean isLeased(String job) {
		return !ask("*" + new FencedResourceFactory("default", null).create("job:" + job).getKey() + "}:lease")
			.isEmpty();
	}

	private Set<String> ask(String pattern) {
		try (Jedis redis = new Jedis(TestServers.redisUrl())) {
			return redis.keys(prefix() + ":" + pattern);
		}
	}

	private static void assertQuiet(CapturedOutput output) {
		assertThat(output.getAll()).doesNotContain("ERROR").doesNotContain("\tat ").doesNotContain("Caused by");
	}

	private interface Work {

		void run() throws Exception;

	}

	/**
	 * Tells when its phase is stopped.
	 */
	private static final class StopSignal implements SmartLifecycle {

		private final int phase;

		private final Runnable action;

		StopSignal(int phase, Runnable action) {
			this.phase = phase;
			this.action = action;
		}

		@Override
		public void start() {
			// runs as soon as it is there
		}

		@Override
		public void stop() {
			this.action.run();
		}

		@Override
		public boolean isRunning() {
			return true;
		}

		@Override
		public int getPhase() {
			return this.phase;
		}

	}

}
