package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.function.Supplier;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingContext;
import io.fencing.testing.RedisSentinelServers;
import io.fencing.testing.TcpProxy;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.codec.SerializationCodec;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.spring.data.connection.RedissonConnectionFactory;

import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which Redis grants leases is told, never guessed, and chosen without creating a client.
 */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class CoordinatorChoiceTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				FencingCoordinatorAutoConfiguration.class, FencingAutoConfiguration.class));

	private final LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());

	@BeforeEach
	void showChoice() {
		this.logging.setLogLevel(CoordinatorClients.class.getName(), LogLevel.INFO);
	}

	@AfterEach
	void hideChoice() {
		this.logging.setLogLevel(CoordinatorClients.class.getName(), null);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					a                       |                              | RedissonClient bean 'a'
					a primary, b            |                              | RedissonClient bean 'a'
					a, b qualified          |                              | RedissonClient bean 'a'
					a fallback, b           |                              | RedissonClient bean 'b'
					a qualified             |                              | the Redis of 'spring.data.redis.*': redis://localhost:6379
					a, b                    | client=b                     | RedissonClient bean 'b'
					a qualified, b          | client=a                     | RedissonClient bean 'a'
					a primary, b            | url=redis://:secret@there/3  | redis://there:6379/3, as 'fencing.coordinator.url' says
					""")
	void whenClientIsChosenThenToldAndNotCreated(String beans, String property, String chosen, CapturedOutput output) {
		withClients(beans).withPropertyValues("fencing.mode=off")
			.withPropertyValues((property != null) ? new String[] { "fencing.coordinator." + property } : new String[0])
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Leases are granted by").contains(chosen).doesNotContain("secret");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					a, b                   |                                 | several RedissonClient beans: [a, b]
					a primary, b primary   |                                 | several RedissonClient beans: [a, b]
					a, b                   | client=c                        | names 'c', but the RedissonClient beans are [a, b]
					a                      | client=a;url=redis://there      | remove one of them
					a                      | url=redis-sentinel://there/main | 'fencing.coordinator.url' is not a Redis URL
					a                      | url=redis-socket:///run/redis   | 'fencing.coordinator.url' is not a Redis URL
					a                      | url=redis://there?timeout=1s    | 'fencing.coordinator.url' is not a Redis URL
					a                      | url=redis://there/-1            | 'fencing.coordinator.url' is not a Redis URL
					a                      | url=redis://there:65536         | 'fencing.coordinator.url' is not a Redis URL
					""")
	void whenChoiceIsAmbiguousOrImpossibleThenStartFailsWithTheNames(String beans, String properties, String problem) {
		String[] values = (properties != null)
				? Arrays.stream(properties.split(";")).map("fencing.coordinator."::concat).toArray(String[]::new)
				: new String[0];
		withClients(beans).withPropertyValues(values)
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining(problem));
	}

	// such as of a password that is not set in development
	@ParameterizedTest
	@ValueSource(strings = { "redis://:@%s", "redis://@%s" })
	void whenPasswordOfUrlIsEmptyThenThereIsNone(String url) {
		this.runner
			.withPropertyValues(
					"fencing.coordinator.url=" + url.formatted(TestServers.redisUrl().replaceFirst("^redis://", "")))
			.run((context) -> context.getBean(FencedOperations.class)
				.run(FencedOperationRequest.of("empty", this.getClass().getName()), () -> {
				}));
	}

	@Test
	void whenParentHasAClientThenThatOfTheChildComesFirst(CapturedOutput output) {
		new ApplicationContextRunner()
			.withBean("above", RedissonClient.class, notCreated("above"), (definition) -> definition.setLazyInit(true))
			.run((parent) -> {
				this.runner.withParent(parent)
					.withPropertyValues("fencing.mode=off")
					.run((child) -> assertThat(child).hasNotFailed());
				assertThat(output).contains("RedissonClient bean 'above'");
				withClients("own").withParent(parent).run((child) -> assertThat(child).hasNotFailed());
				assertThat(output).contains("RedissonClient bean 'own'");
			});
	}

	@Test
	void whenApplicationMakesItsConnectionFactoriesThenPropertiesMustNameAServer(CapturedOutput output) {
		ApplicationContextRunner two = this.runner
			.withBean("cache", RedisConnectionFactory.class, CoordinatorChoiceTests::factory)
			.withBean("data", RedisConnectionFactory.class, CoordinatorChoiceTests::factory);
		two.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.hasMessageContaining("[cache, data]")
			.hasMessageContaining("'fencing.coordinator.url'"));
		two.withPropertyValues("spring.data.redis.port=7").run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("the Redis of 'spring.data.redis.*': redis://localhost:7");
		two.withPropertyValues("fencing.coordinator.url=redis://there")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void whenConnectionFactoryIsMadeByBootThenItsDefaultServerIsMeant() {
		this.runner.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withPropertyValues("spring.data.redis.client-type=jedis")
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner
			.withBean("cache", RedisConnectionFactory.class, CoordinatorChoiceTests::factory,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void whenConfigurationBeanDecidesThenStartFailsWithItsName() {
		this.runner.withBean("there", RedisConfiguration.class, RedisStandaloneConfiguration::new)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("RedisConfiguration beans [there]"));
	}

	// as Redisson's own starter does it, with settings that do not suit leases
	@Test
	void whenRedissonReadsFromReplicasThenScriptsGoToTheMaster(CapturedOutput output) {
		this.runner.withUserConfiguration(RedissonStarter.class).run((context) -> {
			assertThat(output).contains("RedissonClient bean 'redisson'");
			FencedOperations operations = context.getBean(FencedOperations.class);
			long first = token(operations);
			assertThat(token(operations)).isGreaterThan(first);
		});
	}

	@Test
	void whenRedissonIsMorePatientThanTheCallThenTheCallEndsAllTheSame() {
		try (TcpProxy network = TcpProxy.start("127.0.0.1", port())) {
			Config config = new Config();
			config.useSingleServer()
				.setAddress("redis://127.0.0.1:" + network.getPort())
				.setTimeout(30_000)
				.setRetryAttempts(10);
			this.runner
				.withBean("patient", RedissonClient.class, () -> Redisson.create(config),
						(definition) -> ((AbstractBeanDefinition) definition).setDestroyMethodName("shutdown"))
				.run((context) -> {
					FencedOperations operations = context.getBean(FencedOperations.class);
					token(operations);
					network.swallow();
					// within the time-out of this test, which is shorter than Redisson's
					assertThatExceptionOfType(CoordinatorUnavailableException.class)
						.isThrownBy(() -> token(operations));
				});
		}
	}

	private static long token(FencedOperations operations) {
		FencedOperationRequest request = FencedOperationRequest.builder("choice")
			.resource("one")
			.waitTime(Duration.ofSeconds(3))
			.build();
		Long token = operations.call(request, () -> FencingContext.required().getToken().value());
		return (token != null) ? token : 0;
	}

	private ApplicationContextRunner withClients(String beans) {
		ApplicationContextRunner result = this.runner;
		for (String bean : beans.split(", ")) {
			String[] words = bean.split(" ");
			String kind = (words.length > 1) ? words[1] : "";
			result = result.withBean(words[0], RedissonClient.class, notCreated(words[0]), (definition) -> {
				definition.setLazyInit(true);
				definition.setPrimary(kind.equals("primary"));
				definition.setFallback(kind.equals("fallback"));
				((AbstractBeanDefinition) definition).setDefaultCandidate(!kind.equals("qualified"));
			});
		}
		return result;
	}

	private static Supplier<RedissonClient> notCreated(String name) {
		return () -> {
			throw new AssertionError(name + " was created");
		};
	}

	private static RedisConnectionFactory factory() {
		return new LettuceConnectionFactory("127.0.0.1", port());
	}

	private static int port() {
		return Integer.parseInt(TestServers.redisUrl().replaceFirst(".*:", "").replaceFirst("/.*", ""));
	}

	@Configuration(proxyBeanMethods = false)
	static class RedissonStarter {

		@Bean(destroyMethod = "shutdown")
		RedissonClient redisson() {
			RedisSentinelServers servers = RedisSentinelServers.shared();
			Config config = new Config().setCodec(new SerializationCodec());
			config.useSentinelServers()
				.setMasterName(RedisSentinelServers.MASTER)
				.addSentinelAddress("redis://" + servers.getSentinel())
				.setCheckSentinelsList(false)
				.setReadMode(ReadMode.SLAVE)
				.setTimeout(10_000)
				.setRetryAttempts(10);
			return Redisson.create(config);
		}

		@Bean
		RedissonConnectionFactory redissonConnectionFactory(RedissonClient redisson) {
			return new RedissonConnectionFactory(redisson);
		}

	}

}
