package io.fencing.autoconfigure;

import java.time.Duration;

import io.fencing.autoconfigure.CoordinatorClients.RedissonConfigSource;
import io.fencing.fence.FencingMode;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.redisson.Eviction;
import io.fencing.lease.redisson.EvictionCheck;
import io.fencing.lease.redisson.RedissonClientHolder;
import io.fencing.lease.redisson.RedissonCoordinatorSettings;
import io.fencing.lease.redisson.RedissonLeaseCoordinator;
import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the coordinator on Redis.
 */
@AutoConfiguration(before = FencingAutoConfiguration.class,
		afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
				"org.redisson.spring.starter.RedissonAutoConfigurationV2",
				"org.redisson.spring.starter.RedissonAutoConfigurationV4" })
@ConditionalOnClass(RedissonClient.class)
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(LeaseCoordinator.class)
public final class FencingCoordinatorAutoConfiguration {

	private static final Duration START_PATIENCE = Duration.ofSeconds(10);

	@Bean(destroyMethod = "close")
	RedissonClientHolder fencingRedissonClient(FencingProperties properties, ListableBeanFactory beanFactory,
			ObjectProvider<RedissonConfigSource> configSource) {
		return new CoordinatorClients(properties.coordinator(), beanFactory, configSource.getIfAvailable()).choose()
			.checkedBy(new EvictionCheck(eviction(properties), properties.coordinator().timeout()));
	}

	// what is only observed must not fail
	private static Eviction eviction(FencingProperties properties) {
		Eviction eviction = properties.coordinator().eviction();
		return (eviction == Eviction.FAIL && properties.mode() != FencingMode.ENFORCE) ? Eviction.WARN : eviction;
	}

	@Bean
	SmartInitializingSingleton fencingRedissonWarmUp(RedissonClientHolder client, FencingProperties properties) {
		return () -> {
			if (eviction(properties) == Eviction.FAIL) {
				client.warmUp(START_PATIENCE);
			}
			else if (properties.mode() != FencingMode.OFF) {
				client.warmUp();
			}
		};
	}

	@Bean
	RedissonLeaseCoordinator fencingLeaseCoordinator(RedissonClientHolder client, FencingProperties properties) {
		return new RedissonLeaseCoordinator(client,
				new RedissonCoordinatorSettings(properties.coordinator().keyPrefix(),
						properties.coordinator().retention(), properties.coordinator().fair()));
	}

	/**
	 * With Spring Data Redis, leases go where the application's data goes.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataRedisConnectionDetails.class)
	@ConditionalOnBean(DataRedisConnectionDetails.class)
	static class DataRedisConfiguration {

		@Bean
		RedissonConfigFactory fencingRedissonConfig(DataRedisConnectionDetails details, DataRedisProperties properties,
				ListableBeanFactory beanFactory, Environment environment) {
			return new RedissonConfigFactory(details, properties,
					new ConnectionFactoryRules(beanFactory, Binder.get(environment)));
		}

	}

}
