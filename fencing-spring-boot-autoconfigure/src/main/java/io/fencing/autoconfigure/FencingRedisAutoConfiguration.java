package io.fencing.autoconfigure;

import java.util.List;

import io.fencing.FencingListeners;
import io.fencing.fence.redis.RedisFence;
import io.fencing.fence.redis.RedisFencePostProcessor;
import io.fencing.fence.redis.RedisFenceRuntimeHints;
import io.fencing.fence.redis.RedisFenceSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration of the fences in Redis.
 */
@AutoConfiguration(after = FencingAutoConfiguration.class,
		afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
@ImportRuntimeHints(RedisFenceRuntimeHints.class)
public final class FencingRedisAutoConfiguration {

	private static final String FACTORY = "redisConnectionFactory";

	private static final String STORAGE = "redis";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static RedisFencePostProcessor redisFencePostProcessor(Environment environment,
			ObjectProvider<RedisFenceSettings> settings, ObjectProvider<FencingListeners> listeners) {
		// read here, since binding all properties this early would create their bean
		// early
		List<String> factories = factories(environment);
		return new RedisFencePostProcessor((name) -> factories == null || factories.contains(name),
				(name) -> new RedisFence(FACTORY.equals(name) ? STORAGE : name, settings.getObject(),
						listeners.getObject()));
	}

	private static @Nullable List<String> factories(Environment environment) {
		return Binder.get(environment).bind("fencing.redis.factories", Bindable.listOf(String.class)).orElse(null);
	}

	@Bean
	RedisFenceSettings redisFenceSettings(FencingProperties properties) {
		return new RedisFenceSettings(properties.coordinator().keyPrefix(), properties.redis().retention(),
				properties.effectiveUnfencedWrites());
	}

	@Bean
	RedisFenceNames redisFenceNames(ListableBeanFactory beanFactory, FencingProperties properties) {
		return new RedisFenceNames(beanFactory, properties.redis().factories());
	}

}
