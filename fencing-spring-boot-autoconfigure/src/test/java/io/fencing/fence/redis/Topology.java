package io.fencing.fence.redis;

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisSentinelServers;
import io.fencing.testing.TestServers;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The kinds of Redis that a fence works on, each with servers shared by the tests.
 */
enum Topology {

	STANDALONE(() -> standalone(TestServers.redisUrl())),

	SENTINEL(() -> new RedisSentinelConfiguration(RedisSentinelServers.MASTER,
			Set.of(RedisSentinelServers.shared().getSentinel()))),

	CLUSTER(() -> cluster(RedisClusterServers.shared())),

	CLUSTER_7(() -> cluster(RedisClusterServers.shared7()));

	private final Supplier<RedisConfiguration> configuration;

	Topology(Supplier<RedisConfiguration> configuration) {
		this.configuration = configuration;
	}

	private static RedisConfiguration standalone(String url) {
		RedisURI uri = RedisURI.create(url);
		return new RedisStandaloneConfiguration(uri.getHost(), uri.getPort());
	}

	private static RedisConfiguration cluster(RedisClusterServers servers) {
		return new RedisClusterConfiguration(servers.getNodes());
	}

	boolean isCluster() {
		return this == CLUSTER || this == CLUSTER_7;
	}

	RedisClusterServers clusterServers() {
		return (this == CLUSTER_7) ? RedisClusterServers.shared7() : RedisClusterServers.shared();
	}

	/** A fenced factory and a plain one. */
	FencedRedis connect() {
		return connect(ReadFrom.UPSTREAM);
	}

	/** A fenced factory and a plain one that read in a certain way. */
	FencedRedis connect(ReadFrom readFrom) {
		return new FencedRedis(() -> new LettuceConnectionFactory(this.configuration.get(),
				LettuceClientConfiguration.builder()
					.readFrom(readFrom)
					.commandTimeout(Duration.ofSeconds(20))
					.build()));
	}

	/** The guard of a holder next to a key. */
	String guard(Held held, String key) {
		GuardKeys keys = new GuardKeys("fencing");
		return new String(
				isCluster() ? keys.guard(held.resource(), SlotHash.getSlot(key)) : keys.guard(held.resource()));
	}

}
