package io.fencing.autoconfigure;

import java.util.List;

import io.fencing.InvalidFencedOperationException;
import io.fencing.lease.redisson.RedissonClientHolder;
import io.fencing.lease.redisson.RedissonPatience;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.StringUtils;

/**
 * Chooses the client that grants leases: the named one, one for a URL of its own, the
 * application's, or one made of what Boot knows about its Redis. The choice is made at
 * start, the client is connected on first use.
 */
final class CoordinatorClients {

	private final FencingProperties.Coordinator properties;

	private final ListableBeanFactory beanFactory;

	private final ObjectProvider<RedissonClient> clients;

	private final @Nullable RedissonConfigSource configSource;

	CoordinatorClients(FencingProperties.Coordinator properties, ListableBeanFactory beanFactory,
			@Nullable RedissonConfigSource configSource) {
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.clients = beanFactory.getBeanProvider(RedissonClient.class);
		this.configSource = configSource;
	}

	RedissonClientHolder choose() {
		String name = this.properties.client();
		List<String> names = List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
				RedissonClient.class, true, false));
		if (StringUtils.hasText(name)) {
			if (!names.contains(name)) {
				throw new InvalidFencedOperationException("Property 'fencing.coordinator.client' names '" + name
						+ "', but the RedissonClient beans are " + names + "; name one of these");
			}
			return RedissonClientHolder.shared(() -> this.beanFactory.getBean(name, RedissonClient.class));
		}
		String url = this.properties.url();
		if (StringUtils.hasText(url)) {
			RedisUrl parsed = RedisUrl.parse("fencing.coordinator.url", url);
			return RedissonClientHolder.owning(() -> Redisson.create(config(parsed)));
		}
		if (names.size() == 1) {
			return RedissonClientHolder.shared(this.clients::getObject);
		}
		if (names.size() > 1) {
			return primary(names);
		}
		if (this.configSource != null) {
			RedissonConfigSource source = this.configSource;
			return RedissonClientHolder.owning(() -> Redisson.create(source.create()));
		}
		throw new InvalidFencedOperationException("There is no Redis to grant leases; add "
				+ "spring-boot-starter-data-redis and set 'spring.data.redis.*', set 'fencing.coordinator.url', or "
				+ "define a RedissonClient bean");
	}

	private RedissonClientHolder primary(List<String> names) {
		RedissonClient primary = this.clients.getIfUnique();
		if (primary == null) {
			throw new InvalidFencedOperationException("There are several RedissonClient beans: " + names
					+ "; choose one with 'fencing.coordinator.client', or mark one as primary");
		}
		return RedissonClientHolder.shared(() -> primary);
	}

	private static Config config(RedisUrl url) {
		Config config = new Config();
		config.setCodec(StringCodec.INSTANCE);
		config.setUsername(url.username());
		config.setPassword(url.password());
		RedissonPatience.limit(config.useSingleServer())
			.setAddress(url.address())
			.setDatabase(url.database())
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(RedissonConfigSource.CONNECTIONS);
		return config;
	}

	/**
	 * Makes Redisson's configuration of what Boot knows about the application's Redis.
	 */
	@FunctionalInterface
	interface RedissonConfigSource {

		/**
		 * How many connections leases need at most.
		 */
		int CONNECTIONS = 16;

		/**
		 * Make the configuration. Not one of lazy initialization: the first command would
		 * connect on the caller's thread, for as long as Redisson likes.
		 * @return the configuration
		 */
		Config create();

	}

}
