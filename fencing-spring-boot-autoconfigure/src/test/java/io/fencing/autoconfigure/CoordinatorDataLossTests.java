package io.fencing.autoconfigure;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResource;
import io.fencing.FencingContext;
import io.fencing.FencingException;
import io.fencing.FencingListener;
import io.fencing.LeaseLostException;
import io.fencing.StaleTokenException;
import io.fencing.lease.redisson.SetBackCoordinator;
import io.fencing.testing.ClockedRedis;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Whatever the Redis that grants leases forgets, and wherever its clock goes: whoever
 * works on is refused once the next one has worked, tokens rise, or the first one that is
 * too low is a regression and the next attempt succeeds (rule 6, cases 15, 16, 95).
 */
@Timeout(120)
class CoordinatorDataLossTests {

	private static final int LONGEST = 3;

	@TempDir
	private Path directory;

	@ParameterizedTest
	@EnumSource
	void rule6WhenRedisForgetsThenTokensRiseOrTheNextAttemptSucceeds(Storage storage) throws IOException {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port, "dir " + this.directory);
		server.start();
		try (SetBackCoordinator coordinator = SetBackCoordinator.of(port)) {
			run(storage, port, coordinator, coordinator::setBack, EnumSet.allOf(DataLoss.class));
		}
		finally {
			server.stop();
		}
	}

	// the same with the server's own clock
	@ParameterizedTest
	@EnumSource
	void rule6WhenClockOfServerIsSetBackThenTokensRiseOrTheNextAttemptSucceeds(Storage storage) {
		try (ClockedRedis server = ClockedRedis.start(this.directory);
				SetBackCoordinator coordinator = SetBackCoordinator.of(server.getPort())) {
			run(storage, server.getPort(), coordinator, server::setBack,
					EnumSet.range(DataLoss.CLOCK_AN_HOUR_BACK, DataLoss.CLOCK_EIGHT_DAYS_BACK_AND_FLUSHED));
		}
	}

	private static void run(Storage storage, int port, SetBackCoordinator coordinator, Consumer<Duration> clock,
			Set<DataLoss> losses) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, FencingAutoConfiguration.class,
					FencingMetricsAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
					FencingRedisAutoConfiguration.class))
			.withConfiguration(AutoConfigurations.of(storage.configurations))
			.withPropertyValues(storage.properties.get())
			.withBean(SetBackCoordinator.class, () -> coordinator)
			.withBean(SimpleMeterRegistry.class)
			.withBean(Regressions.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				for (DataLoss loss : losses) {
					new Run(context, storage, new RedisConsole(port), clock, loss).check();
				}
			});
	}

	/**
	 * One loss.
	 *
	 * @param context the application
	 * @param storage where it keeps its data
	 * @param redis the server that grants leases
	 * @param clock sets back its clock
	 * @param loss what happens
	 */
	private record Run(ApplicationContext context, Storage storage, RedisConsole redis, Consumer<Duration> clock,
			DataLoss loss) {

		void check() {
			List<String> onceForKnown = expected(this.loss.goesBack());
			List<String> onceForNew = expected(this.loss.makesNewTokensTooOld());
			double before = regressions();
			this.storage.create(this.context, known());
			this.storage.create(this.context, unknown());
			long accepted = add(known(), () -> {
			});
			this.loss.prepare(this.redis);
			FencingException refusal = catchThrowableOfType(FencingException.class, () -> add(known(), () -> {
				FencedResource resource = FencingContext.required().getHeld().get(0).getResource();
				this.clock.accept(this.loss.getSetBack());
				this.loss.happen(this.redis, resource);
				if (this.loss.losesData()) {
					CompletableFuture.runAsync(() -> addEventually(known(), accepted, onceForKnown)).join();
				}
			}));
			if (this.loss.losesData()) {
				assertThat(refusal).as("%s", this.loss)
					.isInstanceOfAny(StaleTokenException.class, LeaseLostException.class);
				// the first one's first write, and the next one's two
				assertThat(this.storage.value(this.context, known())).as("%s", this.loss).isEqualTo(2 + 1 + 2);
			}
			else {
				assertThat(refusal).as("%s", this.loss).isNull();
				addEventually(known(), accepted, onceForKnown);
			}
			addEventually(unknown(), 0, onceForNew);
			this.clock.accept(Duration.ZERO);
			addEventually(known(), accepted, List.of("done"));
			assertThat(regressions() - before).as("%s counted", this.loss)
				.isEqualTo(onceForKnown.size() + onceForNew.size() - 2);
			assertThat(this.context.getBean(Regressions.class).events).as("%s told", this.loss)
				.hasSize((int) regressions());
		}

		private static List<String> expected(boolean regression) {
			return regression ? List.of("REGRESSION", "done") : List.of("done");
		}

		private double regressions() {
			return this.context.getBean(SimpleMeterRegistry.class)
				.find("fencing.token.regressions")
				.counters()
				.stream()
				.mapToDouble(Counter::count)
				.sum();
		}

		private String known() {
			return this.storage + " " + this.loss + " known";
		}

		private String unknown() {
			return this.storage + " " + this.loss + " new";
		}

		private void addEventually(String name, long accepted, List<String> expected) {
			List<String> attempts = new ArrayList<>();
			while (!attempts.contains("done") && attempts.size() < LONGEST) {
				try {
					assertThat(add(name, () -> {
					})).isGreaterThan(accepted);
					attempts.add("done");
				}
				catch (StaleTokenException ex) {
					attempts.add(ex.getReason().name());
				}
			}
			assertThat(attempts).as("%s, %s", this.loss, name).isEqualTo(expected);
		}

		// two writes, with something in between
		private long add(String name, Runnable between) {
			Long token = this.context.getBean(FencedOperations.class)
				.call(FencedOperationRequest.of("add", name), () -> {
					this.storage.add(this.context, name);
					between.run();
					this.storage.add(this.context, name);
					return FencingContext.required().getToken().value();
				});
			return (token != null) ? token : 0;
		}

	}

	/**
	 * What protects the data.
	 */
	enum Storage {

		H2(() -> new String[] { "spring.datasource.url=" + TestServers.newH2Url(),
				"fencing.jdbc.initialize-schema=always" }, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class),

		POSTGRESQL(
				() -> new String[] { "spring.datasource.url=" + TestServers.newPostgresUrl(),
						"fencing.jdbc.initialize-schema=always" },
				DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
				TransactionAutoConfiguration.class, JdbcTemplateAutoConfiguration.class),

		LETTUCE(() -> new String[] { "spring.data.redis.url=" + TestServers.redisUrl() },
				DataRedisAutoConfiguration.class),

		JEDIS(() -> new String[] { "spring.data.redis.url=" + TestServers.redisUrl(),
				"spring.data.redis.client-type=jedis" }, DataRedisAutoConfiguration.class);

		private final Supplier<String[]> properties;

		private final Class<?>[] configurations;

		Storage(Supplier<String[]> properties, Class<?>... configurations) {
			this.properties = properties;
			this.configurations = configurations;
		}

		private boolean isSql() {
			return this == H2 || this == POSTGRESQL;
		}

		void create(ApplicationContext context, String name) {
			if (isSql()) {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE TABLE IF NOT EXISTS counter (name VARCHAR(100), amount INT)");
				jdbc.update("INSERT INTO counter VALUES (?, 0)", name);
			}
			else {
				context.getBean(StringRedisTemplate.class).opsForValue().set(name, "0");
			}
		}

		void add(ApplicationContext context, String name) {
			if (isSql()) {
				context.getBean(JdbcTemplate.class)
					.update("UPDATE counter SET amount = amount + 1 WHERE name = ?", name);
			}
			else {
				context.getBean(StringRedisTemplate.class).opsForValue().increment(name);
			}
		}

		long value(ApplicationContext context, String name) {
			if (isSql()) {
				return context.getBean(JdbcTemplate.class)
					.queryForObject("SELECT amount FROM counter WHERE name = ?", Long.class, name);
			}
			return Long.parseLong(context.getBean(StringRedisTemplate.class).opsForValue().get(name));
		}

	}

	/**
	 * Hears of regressions.
	 */
	static class Regressions implements FencingListener {

		private final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void onRegression(String operation, String storage, long issued, long accepted) {
			assertThat(issued).isLessThanOrEqualTo(accepted);
			this.events.add(storage + " " + issued + " " + accepted);
		}

	}

}
