package io.fencing.adversarial;

import java.util.List;
import java.util.Set;

import io.fencing.testing.RedisSentinelServers;
import io.lettuce.core.RedisURI;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Counters in Redis of every topology, by way of connection factories that are beans, and
 * of such that are not.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("counter.cluster")
class RedisCounters {

	static RedisConfiguration standalone(String url) {
		RedisURI uri = RedisURI.create(url);
		return new RedisStandaloneConfiguration(uri.getHost(), uri.getPort());
	}

	static RedisConfiguration sentinel(String node) {
		return new RedisSentinelConfiguration(RedisSentinelServers.MASTER, Set.of(node));
	}

	static RedisConfiguration cluster(List<String> nodes) {
		return new RedisClusterConfiguration(nodes);
	}

	private static RedisConfiguration standalone(Environment properties) {
		return standalone(properties.getRequiredProperty("counter.standalone"));
	}

	private static RedisConfiguration sentinel(Environment properties) {
		return sentinel(properties.getRequiredProperty("counter.sentinel"));
	}

	private static RedisConfiguration cluster(Environment properties) {
		return cluster(List.of(properties.getRequiredProperty("counter.cluster").split(",")));
	}

	@Bean
	@Primary
	LettuceConnectionFactory standaloneFactory(Environment properties) {
		return new LettuceConnectionFactory(standalone(properties));
	}

	@Bean
	LettuceConnectionFactory sentinelFactory(Environment properties) {
		return new LettuceConnectionFactory(sentinel(properties));
	}

	@Bean
	LettuceConnectionFactory clusterFactory(Environment properties) {
		return new LettuceConnectionFactory(cluster(properties));
	}

	@Bean
	RedisCounterStorage fencedStandalone(LettuceConnectionFactory standaloneFactory) {
		return new RedisCounterStorage(standaloneFactory);
	}

	@Bean
	RedisCounterStorage fencedSentinel(@Qualifier("sentinelFactory") LettuceConnectionFactory sentinelFactory) {
		return new RedisCounterStorage(sentinelFactory);
	}

	@Bean
	RedisCounterStorage fencedCluster(@Qualifier("clusterFactory") LettuceConnectionFactory clusterFactory) {
		return new RedisCounterStorage(clusterFactory);
	}

	@Bean
	RedisCounterStorage undecoratedStandalone(Environment properties) {
		return RedisCounterStorage.undecorated(standalone(properties));
	}

	@Bean
	RedisCounterStorage undecoratedSentinel(Environment properties) {
		return RedisCounterStorage.undecorated(sentinel(properties));
	}

	@Bean
	RedisCounterStorage undecoratedCluster(Environment properties) {
		return RedisCounterStorage.undecorated(cluster(properties));
	}

}
