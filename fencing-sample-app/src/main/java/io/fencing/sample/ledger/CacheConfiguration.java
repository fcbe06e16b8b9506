package io.fencing.sample.ledger;

import java.time.Duration;

import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Nobody waits long for a cache.
 */
@Configuration(proxyBeanMethods = false)
class CacheConfiguration {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	@Bean
	LettuceClientConfigurationBuilderCustomizer cacheTimeout() {
		return (builder) -> builder.commandTimeout(TIMEOUT);
	}

}
