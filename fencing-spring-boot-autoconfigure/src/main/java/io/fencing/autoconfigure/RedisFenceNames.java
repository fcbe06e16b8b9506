package io.fencing.autoconfigure;

import java.util.List;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Looks at start whether the connection factories that are to be fenced are there.
 */
final class RedisFenceNames implements SmartInitializingSingleton {

	private final ListableBeanFactory beanFactory;

	private final @Nullable List<String> factories;

	RedisFenceNames(ListableBeanFactory beanFactory, @Nullable List<String> factories) {
		this.beanFactory = beanFactory;
		this.factories = factories;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.factories == null) {
			return;
		}
		List<String> names = List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
				RedisConnectionFactory.class, true, false));
		for (String name : this.factories) {
			if (!names.contains(name)) {
				throw new InvalidFencedOperationException("Property 'fencing.redis.factories' names '" + name
						+ "', but the RedisConnectionFactory beans are " + names + "; name some of these");
			}
		}
	}

}
