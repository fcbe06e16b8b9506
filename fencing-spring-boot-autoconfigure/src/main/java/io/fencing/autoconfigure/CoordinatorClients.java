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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Chooses the client that grants leases: the named one, one for a URL of its own, the
 * application's, or one made of what Boot knows about its Redis. The choice is made at
 * start, the client is connected on first use.
 */
final class CoordinatorClients {

	private static final Logger logger = LoggerFactory.getLogger(CoordinatorClients.class);

	private final FencingProperties.Coordinator properties;

	private final ListableBeanFactory beanFactory;

	private final @Nullable RedissonConfigSource configSource;

	CoordinatorClients(FencingProperties.Coordinator properties, ListableBeanFactory beanFactory,
			@Nullable RedissonConfigSource configSource) {
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.configSource = configSource;
	}

	RedissonClientHolder choose() {
		String name = this.properties.client();
		String url = this.properties.url();
		if (StringUtils.hasText(name) && StringUtils.hasText(url)) {
			throw new InvalidFencedOperationException("Properties 'fencing.coordinator.client' and "
					+ "'fencing.coordinator.url' both choose the Redis that grants leases; remove one of them");
		}
		if (StringUtils.hasText(name)) {
			return named(name);
		}
		if (StringUtils.hasText(url)) {
			RedisUrl parsed = RedisUrl.parse("fencing.coordinator.url", url);
			logger.info("Leases are granted by {}, as 'fencing.coordinator.url' says", parsed);
			return RedissonClientHolder.owning(() -> Redisson.create(config(parsed)));
		}
		List<String> candidates = CandidateBeans.of(this.beanFactory, RedissonClient.class);
		if (candidates.size() > 1) {
			throw new InvalidFencedOperationException("There are several RedissonClient beans: " + candidates
					+ "; choose one with 'fencing.coordinator.client', or mark one as primary");
		}
		return candidates.isEmpty() ? own() : shared(candidates.get(0));
	}

	private RedissonClientHolder named(String name) {
		List<String> names = List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
				RedissonClient.class, true, false));
		if (!names.contains(name)) {
			throw new InvalidFencedOperationException("Property 'fencing.coordinator.client' names '" + name
					+ "', but the RedissonClient beans are " + names + "; name one of these");
		}
		return shared(name);
	}

	private RedissonClientHolder shared(String name) {
		logger.info("Leases are granted by the Redis of the RedissonClient bean '{}'", name);
		return RedissonClientHolder.shared(() -> this.beanFactory.getBean(name, RedissonClient.class));
	}

	private RedissonClientHolder own() {
		RedissonConfigSource source = this.configSource;
		if (source == null) {
			throw new InvalidFencedOperationException("There is no Redis to grant leases; add "
					+ "spring-boot-starter-data-redis and set 'spring.data.redis.*', set 'fencing.coordinator.url', or "
					+ "define a RedissonClient bean");
		}
		// what cannot be honoured ends the start, not the first call
		source.create();
		logger.info("Leases are granted by {}", source);
		return RedissonClientHolder.owning(() -> Redisson.create(source.create()));
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
		 * @throws InvalidFencedOperationException if something that is set cannot be
		 * honoured
		 */
		Config create();

	}

}
