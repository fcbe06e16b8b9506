package io.fencing.fence.redis;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts the fence into every {@link RedisConnectionFactory} bean, unless it is left out.
 * Factories keep their class. Runs last, so that whatever others have configured is kept.
 */
public final class RedisFencePostProcessor implements DestructionAwareBeanPostProcessor, Ordered {

	private final Predicate<String> selected;

	private final Function<String, RedisFence> fences;

	// the container destroys what it has created
	private final Map<Object, FencedLettuceConnectionFactory> replaced = Collections
		.synchronizedMap(new IdentityHashMap<>());

	/**
	 * Create the post-processor.
	 * @param selected tells which beans are fenced, by name
	 * @param fences makes the fence of a bean; called at the first command that needs it
	 */
	public RedisFencePostProcessor(Predicate<String> selected, Function<String, RedisFence> fences) {
		this.selected = selected;
		this.fences = fences;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (!(bean instanceof RedisConnectionFactory factory) || !this.selected.test(beanName)) {
			return bean;
		}
		if (factory.getClass() == LettuceConnectionFactory.class) {
			FencedLettuceConnectionFactory fenced = FencedLettuceConnectionFactory
				.replace((LettuceConnectionFactory) factory, fence(beanName));
			this.replaced.put(bean, fenced);
			DecoratedConnectionFactory.tell(beanName, null);
			return fenced;
		}
		return bean;
	}

	private Supplier<RedisFence> fence(String beanName) {
		return SingletonSupplier.of(() -> this.fences.apply(beanName))::obtain;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof RedisConnectionFactory factory && !(bean instanceof FencedLettuceConnectionFactory)
				&& this.selected.test(beanName)) {
			return DecoratedConnectionFactory.decorate(factory, beanName, fence(beanName));
		}
		return bean;
	}

	@Override
	public void postProcessBeforeDestruction(Object bean, String beanName) {
		FencedLettuceConnectionFactory fenced = this.replaced.remove(bean);
		if (fenced != null) {
			fenced.destroy();
		}
	}

	@Override
	public boolean requiresDestruction(Object bean) {
		return this.replaced.containsKey(bean);
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

}
