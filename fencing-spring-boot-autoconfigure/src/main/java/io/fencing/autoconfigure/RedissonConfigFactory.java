package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.fencing.InvalidFencedOperationException;
import io.fencing.autoconfigure.CoordinatorClients.RedissonConfigSource;
import io.fencing.lease.redisson.RedissonPatience;
import org.jspecify.annotations.Nullable;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SslVerificationMode;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

/**
 * Makes Redisson's configuration of what Boot knows about the application's Redis, so
 * that both reach the same server in the same way. A {@code rediss} URL means TLS also
 * where no SSL bundle is named: there is no downgrade to plain text.
 */
final class RedissonConfigFactory implements RedissonConfigSource {

	private final DataRedisConnectionDetails details;

	private final DataRedisProperties properties;

	private final ConnectionFactoryRules rules;

	RedissonConfigFactory(DataRedisConnectionDetails details, DataRedisProperties properties,
			ConnectionFactoryRules rules) {
		this.details = details;
		this.properties = properties;
		this.rules = rules;
	}

	@Override
	public Config create() {
		this.rules.check(this.details);
		checkDatabase();
		Config config = new Config();
		config.setCodec(StringCodec.INSTANCE);
		config.setUsername(textOrNull(this.details.getUsername()));
		config.setPassword(textOrNull(this.details.getPassword()));
		applySsl(config, this.details.getSslBundle());
		useServers(config);
		return config;
	}

	// Boot leaves it out in silence
	private void checkDatabase() {
		Standalone standalone = this.details.getStandalone();
		int database = (standalone != null) ? standalone.getDatabase() : this.properties.getDatabase();
		boolean onlyFirst = this.details.getSentinel() == null
				&& (this.details.getCluster() != null || this.details.getMasterReplica() != null);
		if (onlyFirst && database != 0) {
			throw new InvalidFencedOperationException("'spring.data.redis.database' is " + database
					+ ", but with 'spring.data.redis.cluster.nodes' or 'spring.data.redis.masterreplica.nodes' "
					+ "Spring Boot uses database 0; remove it");
		}
	}

	private void useServers(Config config) {
		Sentinel sentinel = this.details.getSentinel();
		if (sentinel != null) {
			useSentinel(config, sentinel);
		}
		else if (this.details.getCluster() != null) {
			applyCommon(config.useClusterServers()
				.addNodeAddress(addresses(this.details.getCluster().getNodes()))
				.setReadMode(ReadMode.MASTER)
				.setMasterConnectionPoolSize(CONNECTIONS)
				.setMasterConnectionMinimumIdleSize(1)
				.setSlaveConnectionMinimumIdleSize(1));
		}
		else if (this.details.getMasterReplica() != null) {
			// asks each node for its role, so that scripts always go to the master
			applyCommon(config.useReplicatedServers()
				.addNodeAddress(addresses(this.details.getMasterReplica().getNodes()))
				.setReadMode(ReadMode.MASTER)
				.setMasterConnectionPoolSize(CONNECTIONS)
				.setMasterConnectionMinimumIdleSize(1)
				.setSlaveConnectionMinimumIdleSize(1));
		}
		else {
			Standalone standalone = this.details.getStandalone();
			Assert.state(standalone != null, "The Redis connection details name no server");
			applyCommon(config.useSingleServer()
				.setAddress(address(standalone.getHost(), standalone.getPort()))
				.setDatabase(standalone.getDatabase())
				.setConnectionPoolSize(CONNECTIONS)
				.setConnectionMinimumIdleSize(1));
		}
	}

	private void useSentinel(Config config, Sentinel sentinel) {
		if (textOrNull(sentinel.getPassword()) != null && config.getPassword() == null) {
			// Redisson asks whether Sentinels demand one only where servers do
			throw new InvalidFencedOperationException("'spring.data.redis.sentinel.password' is set without "
					+ "'spring.data.redis.password', which Redisson would not use; give the servers a password as well, "
					+ "or say which Redis grants leases with 'fencing.coordinator.url'");
		}
		applyCommon(config.useSentinelServers()
			.setMasterName(sentinel.getMaster())
			.addSentinelAddress(addresses(sentinel.getNodes()))
			.setSentinelUsername(textOrNull(sentinel.getUsername()))
			.setSentinelPassword(textOrNull(sentinel.getPassword()))
			.setDatabase(sentinel.getDatabase())
			.setReadMode(ReadMode.MASTER)
			.setCheckSentinelsList(false)
			.setMasterConnectionPoolSize(CONNECTIONS)
			.setMasterConnectionMinimumIdleSize(1)
			.setSlaveConnectionMinimumIdleSize(1));
	}

	private <T extends BaseConfig<T>> void applyCommon(T servers) {
		RedissonPatience.limit(servers);
		if (StringUtils.hasText(this.properties.getClientName())) {
			servers.setClientName(this.properties.getClientName());
		}
		Duration timeout = this.properties.getTimeout();
		if (timeout != null) {
			servers.setTimeout(millis(timeout));
		}
		Duration connectTimeout = this.properties.getConnectTimeout();
		if (connectTimeout != null) {
			servers.setConnectTimeout(millis(connectTimeout));
		}
	}

	// more than 24 days are as good as these
	private static int millis(Duration time) {
		return (int) Math.min(time.toMillis(), Integer.MAX_VALUE);
	}

	private static void applySsl(Config config, @Nullable SslBundle bundle) {
		if (bundle == null) {
			return;
		}
		config.setSslVerificationMode(SslVerificationMode.STRICT);
		config.setSslKeyManagerFactory(bundle.getManagers().getKeyManagerFactory());
		config.setSslTrustManagerFactory(bundle.getManagers().getTrustManagerFactory());
		config.setSslCiphers(bundle.getOptions().getCiphers());
		config.setSslProtocols(bundle.getOptions().getEnabledProtocols());
	}

	private String[] addresses(List<Node> nodes) {
		Assert.state(!nodes.isEmpty(), "The Redis connection details name no node; add one");
		return nodes.stream().map((node) -> address(node.host(), node.port())).toArray(String[]::new);
	}

	private String address(String host, int port) {
		String bracketed = (host.indexOf(':') >= 0 && !host.startsWith("[")) ? "[" + host + "]" : host;
		// a URL without a port gives -1
		return (isTls() ? "rediss://" : "redis://") + bracketed + ":" + ((port > 0) ? port : 6379);
	}

	private boolean isTls() {
		String url = this.properties.getUrl();
		return this.details.getSslBundle() != null || (url != null && url.startsWith("rediss://"));
	}

	@Override
	public String toString() {
		return "the Redis of 'spring.data.redis.*': " + describeServers();
	}

	private String describeServers() {
		Sentinel sentinel = this.details.getSentinel();
		if (sentinel != null) {
			return "'" + sentinel.getMaster() + "' of the Sentinels " + List.of(addresses(sentinel.getNodes()));
		}
		if (this.details.getCluster() != null) {
			return "the cluster " + List.of(addresses(this.details.getCluster().getNodes()));
		}
		if (this.details.getMasterReplica() != null) {
			return "the master of " + List.of(addresses(this.details.getMasterReplica().getNodes()));
		}
		Standalone standalone = this.details.getStandalone();
		return (standalone != null) ? address(standalone.getHost(), standalone.getPort()) : "none";
	}

	// a URL with a password only gives the user name "", which AUTH would take for a name
	private static @Nullable String textOrNull(@Nullable String text) {
		return StringUtils.hasLength(text) ? text : null;
	}

}
