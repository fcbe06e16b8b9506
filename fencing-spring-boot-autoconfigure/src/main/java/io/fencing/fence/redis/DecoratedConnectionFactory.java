package io.fencing.fence.redis;

import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.data.redis.connection.ReactiveRedisConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClusterConnection;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Decorates the connections that a factory gives: those of Jedis and Redisson go by the
 * fence, others are refused inside of operations.
 */
final class DecoratedConnectionFactory {

	private static final Logger logger = LoggerFactory.getLogger(DecoratedConnectionFactory.class);

	private static final String LEAVE_OUT = "use a LettuceConnectionFactory, or leave the factory out of "
			+ "'fencing.redis.factories'";

	private static final String NO_CLUSTER = "Jedis has no transactions in a cluster, so it cannot be fenced there; "
			+ LEAVE_OUT;

	private static final String UNKNOWN = "connections of this driver cannot be fenced in this version; " + LEAVE_OUT;

	private static final String NOT_REDISSON = "connections of Redisson to a cluster, with RESP3 and reactive ones cannot "
			+ "be fenced in this version; " + LEAVE_OUT;

	private static final String REDISSON = "org.redisson.spring.data.connection.RedissonConnectionFactory";

	private DecoratedConnectionFactory() {
	}

	/**
	 * Decorate a factory.
	 * @param factory the factory
	 * @param name the name of the bean that it is
	 * @param fence gives the fence; called at the first command that needs it
	 * @return the factory, of the same class
	 */
	static Object decorate(RedisConnectionFactory factory, String name, Supplier<RedisFence> fence) {
		if (factory instanceof JedisConnectionFactory jedis) {
			tell(name, jedis.isRedisClusterAware() ? NO_CLUSTER : null);
			return proxy(factory, (invocation) -> {
				Object result = invocation.proceed();
				return (result instanceof JedisConnection connection && !(result instanceof JedisClusterConnection))
						? proxy(connection,
								new WatchedCommands(connection, jedis.getDatabase(),
										jedis.getConvertPipelineAndTxResults(), fence))
						: refused(result, fence, NO_CLUSTER);
			});
		}
		if (factory.getClass().getName().equals(REDISSON)) {
			tell(name, null);
			RedissonConnections connections = new RedissonConnections(fence);
			return proxy(factory, (invocation) -> {
				Object result = invocation.proceed();
				RedisConnection fenced = (result instanceof RedisConnection connection) ? connections.fence(connection)
						: null;
				return (fenced != null) ? proxy(fenced, connections) : refused(result, fence, NOT_REDISSON);
			});
		}
		tell(name, UNKNOWN);
		return proxy(factory, (invocation) -> refused(invocation.proceed(), fence, UNKNOWN));
	}

	/**
	 * Tell at start what becomes of a factory.
	 * @param name the name of the bean
	 * @param remedy why it is refused and what to do, {@code null} if it is not
	 */
	static void tell(String name, @Nullable String remedy) {
		if (remedy == null) {
			logger.info("Redis connection factory '{}' goes by the fence", name);
		}
		else {
			logger.warn("Redis connection factory '{}' is refused inside of operations: {}", name, remedy);
		}
	}

	private static @Nullable Object refused(@Nullable Object result, Supplier<RedisFence> fence, String remedy) {
		return (result instanceof RedisConnection || result instanceof ReactiveRedisConnection)
				? proxy(result, new RefusedCommands(fence, remedy)) : result;
	}

	private static Object proxy(Object target, MethodInterceptor interceptor) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvice(interceptor);
		return factory.getProxy(target.getClass().getClassLoader());
	}

}
