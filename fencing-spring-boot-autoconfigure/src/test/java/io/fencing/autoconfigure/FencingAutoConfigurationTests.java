package io.fencing.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperation;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.InvalidFencedOperationException;
import io.fencing.autoconfigure.LedgerApplication.Ledger;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.MonotonicClock;
import io.fencing.operation.OperationSettingsSource;
import io.fencing.testing.InMemoryLeaseCoordinator;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;
import redis.embedded.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The starter fits into applications and leaves what is theirs as it is.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencingAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, AopAutoConfiguration.class,
				DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				JdbcClientAutoConfiguration.class, TransactionAutoConfiguration.class, CacheAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingJdbcAutoConfiguration.class,
				FencingAopAutoConfiguration.class, FencingMetricsAutoConfiguration.class,
				FencingAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.url=" + TestServers.redisUrl(),
				"spring.datasource.url=jdbc:h2:mem:" + "autoconfigure;DB_CLOSE_DELAY=-1",
				"spring.datasource.type=" + HikariDataSource.class.getName());

	// case 38: types are kept, nothing is created too early
	@Test
	void case38WhenStarterIsPresentThenTypesAreKeptAndNoBeanIsCreatedTooEarly(CapturedOutput output) {
		this.runner.withUserConfiguration(Operations.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(JdbcTemplate.class)).isInstanceOf(JdbcTemplate.class);
			assertThat(context.getBean(HikariDataSource.class)).isNotNull();
			assertThat(context.getBean(DataSource.class)).isSameAs(context.getBean(HikariDataSource.class));
			assertThat(context.getBean(JdbcTransactionManager.class))
				.isSameAs(context.getBean(PlatformTransactionManager.class));
			assertThat(context.getBean(StringRedisTemplate.class)).isNotNull();
			assertThat(context.getBean(LettuceConnectionFactory.class))
				.isSameAs(context.getBean(RedisConnectionFactory.class));
		});
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	// case 72: the cache manager stays what it was
	@Test
	void case72WhenCachingIsOnThenCacheManagerKeepsItsType() {
		this.runner.withUserConfiguration(Caching.class)
			.run((context) -> assertThat(context.getBean(CacheManager.class))
				.isExactlyInstanceOf(RedisCacheManager.class));
	}

	// case 32: nothing of ours is left, and nothing is defined that is the application's
	@Test
	void case32WhenDisabledThenNothingOfOursIsLeft() {
		this.runner.withPropertyValues("fencing.enabled=false").run((context) -> {
			assertThat(Arrays.stream(context.getBeanDefinitionNames())
				.map((name) -> String.valueOf(context.getBeanFactory().getBeanDefinition(name).getBeanClassName()))
				.filter((type) -> type.startsWith("io.fencing"))).isEmpty();
			assertThat(context).doesNotHaveBean(FencedOperations.class);
		});
	}

	@Test
	void case32WhenStarterIsPresentThenItDefinesNoRedissonClient() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RedissonClient.class));
	}

	@Test
	void whenSeveralRedissonClientsThenAmbiguityIsNamed() {
		this.runner.withBean("one", RedissonClient.class, () -> null)
			.withBean("two", RedissonClient.class, () -> null)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("[one, two]")
				.hasMessageContaining("fencing.coordinator.client"));
	}

	// case 33: optional libraries may be absent
	@Test
	void case33WhenOptionalLibrariesAreAbsentThenStarterBacksOff() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(AopAutoConfiguration.class, FencingCoordinatorAutoConfiguration.class,
							FencingJdbcAutoConfiguration.class, FencingAopAutoConfiguration.class,
							FencingMetricsAutoConfiguration.class, FencingAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.transaction",
					"org.springframework.data.redis", "org.springframework.boot.data.redis",
					"org.springframework.boot.jdbc", "io.micrometer", "org.springframework.orm", "org.hibernate",
					"jakarta.persistence", "io.lettuce"))
			.withPropertyValues("fencing.coordinator.url=" + TestServers.redisUrl())
			.withUserConfiguration(Operations.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Service.class).token("absent")).isPositive();
			});
	}

	@Test
	void whenThereIsNoRedisThenStartFailsWithTheRemedy() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'fencing.coordinator.url'"));
	}

	@Test
	void whenCoordinatorUrlIsNoneThenStartFailsWithoutShowingIt() {
		this.runner.withPropertyValues("fencing.coordinator.url=http://user:secret@redis")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'fencing.coordinator.url'")
				.hasMessageContaining("rediss://")
				.hasMessageNotContaining("secret"));
	}

	// case 35: the database is down at start
	@Test
	void case35WhenDatabaseIsDownAtStartThenStartsWithAWarning(CapturedOutput output) {
		this.runner
			.withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:" + TestServers.freePort() + "/none",
					"fencing.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The fence of storage 'jdbc' could not be looked at");
	}

	@ParameterizedTest
	@ValueSource(strings = { "fencing.coordinator.timeout=0s", "fencing.coordinator.timeout=300000d",
			"fencing.shutdown.grace=-1s", "fencing.shutdown.grace=300000d", "fencing.coordinator.key-prefix=a{b}",
			"fencing.coordinator.retention=400d", "fencing.jdbc.retention=1h", "fencing.lease.time=10ms",
			"fencing.lease.max-hold=5s" })
	void whenPropertyMakesNoSenseThenStartFailsNamingIt(String property) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining(property.startsWith("fencing.lease") ? "'fencing.lease.*'"
						: property.substring(0, property.indexOf('=')))
				.hasMessageContaining("; "));
	}

	@Test
	void whenRetentionIsBelowMaxHoldThenStartFailsWithTheRelation() {
		this.runner.withPropertyValues("fencing.coordinator.retention=1h")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'fencing.coordinator.retention'")
				.hasMessageContaining("24 hours"));
	}

	// case 35: Redis is down at start
	@Test
	void case35WhenRedisIsDownAtStartThenCallsFailTypedUntilItIsBack() throws IOException {
		int port = TestServers.freePort();
		try (ConfigurableApplicationContext context = LedgerApplication
			.start("spring.data.redis.url=redis://127.0.0.1:" + port, "fencing.lease.wait=300ms")) {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.createTable();
			assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> ledger.open("one"));
			RedisServer server = TestServers.newRedis(port);
			server.start();
			try {
				await().atMost(Duration.ofSeconds(30))
					.ignoreException(CoordinatorUnavailableException.class)
					.untilAsserted(() -> ledger.open("one"));
				assertThat(ledger.read("one")).isZero();
			}
			finally {
				server.stop();
			}
		}
	}

	// case 35: at the first use of all, Redis accepts connections and answers nothing
	@ParameterizedTest
	@ValueSource(strings = { "spring.data.redis.url", "fencing.coordinator.url" })
	void case35WhenRedisHangsAtFirstUseThenCallsEndWithinTheWait(String property) {
		URI redis = URI.create(TestServers.redisUrl());
		try (TcpProxy proxy = TcpProxy.start(redis.getHost(), redis.getPort());
				ConfigurableApplicationContext context = LedgerApplication.start(
						property + "=redis://" + proxy.getHost() + ":" + proxy.getPort(), "fencing.lease.wait=300ms")) {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.createTable();
			proxy.swallow();
			long startedAt = System.nanoTime();
			assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(() -> ledger.open("one"));
			assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(Duration.ofSeconds(2));
			proxy.pass();
			await().atMost(Duration.ofSeconds(60))
				.ignoreException(CoordinatorUnavailableException.class)
				.untilAsserted(() -> ledger.open("one"));
		}
	}

	// case 35: lazy initialization still fences
	@Test
	void case35WhenInitializationIsLazyThenOperationsAreFencedAllTheSame() {
		try (ConfigurableApplicationContext context = LedgerApplication.start("spring.main.lazy-initialization=true")) {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.createTable();
			ledger.open("one");
			assertThat(ledger.add("one", 1).value()).isPositive();
		}
	}

	// case 59: the fence table comes from a migration
	@ParameterizedTest
	@ValueSource(strings = { "spring.flyway.enabled", "spring.liquibase.enabled" })
	void case59WhenMigrationCreatesTheTableThenItIsThereBeforeItIsLookedFor(String enabled) {
		try (ConfigurableApplicationContext context = LedgerApplication.start(enabled + "=true",
				"spring.flyway.locations=classpath:io/fencing/autoconfigure/migration",
				"spring.liquibase.change-log=classpath:io/fencing/autoconfigure/migration/changelog.xml",
				"fencing.jdbc.initialize-schema=never")) {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.createTable();
			ledger.open("one");
			assertThat(ledger.add("one", 1).value()).isPositive();
		}
	}

	@Test
	void case59WhenTableIsMissingThenStartFailsWithTheStatementToRun() {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> LedgerApplication.start("fencing.jdbc.initialize-schema=never"))
			.withMessageContaining("'fencing_fence'")
			.withMessageContaining("schema-postgresql.sql")
			.withMessageContaining("fencing.jdbc.initialize-schema");
	}

	@Test
	void whenOnlyObservedThenMissingTableStopsNothing() {
		try (ConfigurableApplicationContext context = LedgerApplication.start("fencing.jdbc.initialize-schema=never",
				"fencing.mode=observe")) {
			Ledger ledger = context.getBean(Ledger.class);
			ledger.createTable();
			ledger.open("one");
			assertThat(ledger.read("one")).isZero();
		}
	}

	@Test
	void whenNameOfOperationHasADotThenItsSettingsAreFoundInBrackets() {
		this.runner
			.withPropertyValues("fencing.operations[Service.token].mode=off",
					"fencing.operations[Service.token].programmatic=true")
			.run((context) -> assertThat(
					context.getBean(OperationSettingsSource.class).isEnforced("Service.token", false))
				.isFalse());
	}

	@Test
	void whenSettingsAreForNoOperationThenStartFails() {
		this.runner.withPropertyValues("fencing.operations.withdrow.lease-time=10s")
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidFencedOperationException.class)
				.hasMessageContaining("'fencing.operations.withdrow'"));
		this.runner
			.withPropertyValues("fencing.operations.close-day.lease-time=10s",
					"fencing.operations.close-day.programmatic=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void whenCoordinatorIsTheApplicationsThenOursBacksOff() {
		this.runner.withUserConfiguration(OwnCoordinator.class)
			.run((context) -> assertThat(context).hasSingleBean(LeaseCoordinator.class));
	}

	@Test
	void whenCalledProgrammaticallyThenFencedAsAnnotated() {
		try (ConfigurableApplicationContext context = LedgerApplication.start()) {
			FencedOperations operations = context.getBean(FencedOperations.class);
			long token = operations.call(FencedOperationRequest.of("close", "day:1"),
					() -> FencingContext.required().getToken().value());
			assertThat(token).isPositive();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnCoordinator {

		@Bean
		LeaseCoordinator ownCoordinator() {
			return new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Operations {

		@Bean
		Service service() {
			return new Service();
		}

	}

	public static class Service {

		@FencedOperation("thing:#{#id}")
		public long token(String id) {
			return FencingContext.required().getToken().value();
		}

	}

}
