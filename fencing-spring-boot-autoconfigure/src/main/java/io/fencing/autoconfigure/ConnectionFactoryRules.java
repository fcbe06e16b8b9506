package io.fencing.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;

import io.fencing.InvalidFencedOperationException;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Refuses to take {@code spring.data.redis.*} for the application's Redis where the
 * application connects otherwise: leases would come from another server, in silence, such
 * as the default at localhost.
 */
final class ConnectionFactoryRules {

	private static final String PROPERTIES = "spring.data.redis.";

	private static final List<String> SERVERS = List.of("url", "host", "port", "sentinel.nodes", "cluster.nodes",
			"masterreplica.nodes");

	private static final String BOOT = DataRedisProperties.class.getPackageName();

	private static final String REMEDY = "; say which Redis grants leases with 'fencing.coordinator.url', or with a "
			+ "RedissonClient bean that 'fencing.coordinator.client' names";

	private final ListableBeanFactory beanFactory;

	private final Binder properties;

	ConnectionFactoryRules(ListableBeanFactory beanFactory, Binder properties) {
		this.beanFactory = beanFactory;
		this.properties = properties;
	}

	/**
	 * Check that the connection details are what the application goes by.
	 * @param details the connection details
	 * @throws InvalidFencedOperationException if they are not
	 */
	void check(DataRedisConnectionDetails details) {
		List<String> configurations = CandidateBeans.of(this.beanFactory, RedisConfiguration.class);
		if (!configurations.isEmpty()) {
			throw new InvalidFencedOperationException("The RedisConfiguration beans " + configurations
					+ " decide which Redis the application uses, not 'spring.data.redis.*'" + REMEDY);
		}
		if (!details.getClass().getName().startsWith(BOOT) || isAnyServerNamed()) {
			return;
		}
		List<String> own = CandidateBeans.of(this.beanFactory, RedisConnectionFactory.class)
			.stream()
			.filter((name) -> !isMadeByBoot(name))
			.toList();
		if (!own.isEmpty()) {
			throw new InvalidFencedOperationException("The application makes its RedisConnectionFactory beans " + own
					+ " itself, and 'spring.data.redis.*' names no server" + REMEDY
					+ ", or set 'spring.data.redis.*' as well");
		}
	}

	private boolean isAnyServerNamed() {
		return SERVERS.stream().anyMatch((name) -> this.properties.bind(PROPERTIES + name, Object.class).isBound());
	}

	private boolean isMadeByBoot(String name) {
		if (this.beanFactory instanceof ConfigurableListableBeanFactory known && known.containsBeanDefinition(name)
				&& known.getMergedBeanDefinition(name) instanceof RootBeanDefinition definition) {
			Method method = definition.getResolvedFactoryMethod();
			return method != null && method.getDeclaringClass().getName().startsWith(BOOT);
		}
		return false;
	}

}
