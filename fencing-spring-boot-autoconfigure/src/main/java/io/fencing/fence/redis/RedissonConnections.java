package io.fencing.fence.redis;

import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;

import io.fencing.Observation;
import io.fencing.context.OperationContext;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.config.Protocol;
import org.redisson.spring.data.connection.RedissonConnection;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.objenesis.SpringObjenesis;
import org.springframework.util.ReflectionUtils;

/**
 * Makes connections of Redisson's factory go by the fence. Redisson's WATCH goes out on
 * any connection of the pool and protects nothing, so commands are rewritten where its
 * executor sends them. A connection takes the executor from its client: it gets a copy of
 * the client that differs in the executor alone. Thread-safe.
 */
final class RedissonConnections implements MethodInterceptor {

	private static final String PAST_THE_FENCE = "commands would go past the fence by it; use the connection's own "
			+ "methods, or call it outside of the operation";

	private final Supplier<RedisFence> fence;

	private final Map<Redisson, Redisson> clients = Collections.synchronizedMap(new WeakHashMap<>());

	RedissonConnections(Supplier<RedisFence> fence) {
		this.fence = fence;
	}

	/**
	 * The same connection by the fence.
	 * @param connection a connection of Redisson's factory
	 * @return the connection, {@code null} if it cannot be fenced: in a cluster, with
	 * RESP3, or of a sub-class
	 */
	@Nullable RedisConnection fence(RedisConnection connection) {
		if (connection.getClass() == RedissonConnection.class && connection instanceof RedissonConnection redisson
				&& redisson.getNativeConnection() instanceof Redisson client
				&& client.getConfig().getProtocol() == Protocol.RESP2) {
			return new RedissonConnection(this.clients.computeIfAbsent(client, this::copy),
					redisson.isFilterOkResponses());
		}
		return null;
	}

	private Redisson copy(Redisson client) {
		FencedRedissonExecutor executor = new FencedRedissonExecutor(client.getCommandExecutor(),
				new RedissonCalls(this.fence));
		Redisson copy = new SpringObjenesis().newInstance(Redisson.class, false);
		ReflectionUtils.doWithFields(Redisson.class, (field) -> {
			ReflectionUtils.makeAccessible(field);
			field.set(copy, field.getName().equals("commandExecutor") ? executor : field.get(client));
		}, (field) -> !Modifier.isStatic(field.getModifiers()));
		return copy;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		OperationContext context = OperationContext.get();
		String method = invocation.getMethod().getName();
		String remedy = switch (method) {
			case "getNativeConnection" -> PAST_THE_FENCE;
			case "subscribe", "pSubscribe" -> Refusals.REMEDIES.get("SUBSCRIBE");
			default -> null;
		};
		if (context != null && remedy != null) {
			if (context.isEnforced()) {
				throw this.fence.get().unfenced(context, method, remedy);
			}
			this.fence.get().observed(context, Observation.REFUSED);
		}
		try {
			return invocation.proceed();
		}
		catch (RuntimeException ex) {
			Refused.throwIfRefused(ex);
			throw ex;
		}
	}

}
