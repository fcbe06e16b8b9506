package io.fencing.fence.redis;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.RedisCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.data.redis.connection.ClusterCommandExecutor;
import org.springframework.data.redis.connection.ClusterTopologyProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection.PipeliningFlushPolicy;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * A connection factory whose connections go by the fence: shared and pooled, imperative
 * and reactive, to a server or a cluster. It takes the place of the application's before
 * that one has started, with everything that it was configured with. Outside of
 * operations it does what its super class does. Thread-safe.
 */
class FencedLettuceConnectionFactory extends LettuceConnectionFactory {

	private static final String UNSUPPORTED = "This version of Spring Data Redis is not supported; use another one";

	private final Supplier<RedisFence> fence;

	private final PipeliningFlushPolicy flushPolicy;

	FencedLettuceConnectionFactory(LettuceConnectionFactory original, Supplier<RedisFence> fence) {
		super(new RedisStandaloneConfiguration(), original.getClientConfiguration());
		// there is no getter for some of it
		ReflectionUtils.shallowCopyFieldState(original, this);
		this.fence = fence;
		PipeliningFlushPolicy policy = value(original, PipeliningFlushPolicy.class);
		this.flushPolicy = (policy != null) ? policy : PipeliningFlushPolicy.flushEachCommand();
		setExecutor(ClusterExecution.carrying(value(original, AsyncTaskExecutor.class)));
	}

	/**
	 * Take the place of a factory.
	 * @param original the factory, of no other class, not in use yet
	 * @param fence gives the fence; called at the first command that needs it
	 * @return the factory to use instead
	 */
	static FencedLettuceConnectionFactory replace(LettuceConnectionFactory original, Supplier<RedisFence> fence) {
		if (original.isRunning()) {
			original.stop();
		}
		return new FencedLettuceConnectionFactory(original, fence);
	}

	@SuppressWarnings("unchecked")
	private static <T> @Nullable T value(LettuceConnectionFactory original, Class<T> type) {
		Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, null, type);
		Assert.state(field != null, UNSUPPORTED);
		ReflectionUtils.makeAccessible(field);
		return (T) ReflectionUtils.getField(field, original);
	}

	@Override
	public void start() {
		super.start();
		// outside of a pool, which is out of reach as well
		Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "reactiveConnectionProvider");
		Assert.state(field != null, UNSUPPORTED);
		ReflectionUtils.makeAccessible(field);
		LettuceConnectionProvider provider = (LettuceConnectionProvider) ReflectionUtils.getField(field, this);
		if (provider != null && !Proxy.isProxyClass(provider.getClass())) {
			ReflectionUtils.setField(field, this, FencedConnectionProvider.carrying(provider));
		}
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		LettuceConnectionProvider provider = super.doCreateConnectionProvider(client, codec);
		return FencedConnectionProvider.wrapping(provider,
				new ConnectionWrapper<>(this.fence, provider, codec, isClusterAware() ? 0 : getDatabase())::wrap);
	}

	@Override
	protected LettuceConnection doCreateLettuceConnection(@Nullable StatefulRedisConnection<byte[], byte[]> shared,
			LettuceConnectionProvider provider, long timeout, int database) {
		FencedLettuceConnection connection = new FencedLettuceConnection(this.fence, shared, provider, timeout,
				database);
		connection.setPipeliningFlushPolicy(this.flushPolicy);
		return connection;
	}

	@Override
	protected LettuceClusterConnection doCreateLettuceClusterConnection(
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> shared, LettuceConnectionProvider provider,
			ClusterTopologyProvider topology, ClusterCommandExecutor executor, Duration timeout) {
		FencedLettuceClusterConnection connection = new FencedLettuceClusterConnection(this.fence, shared, provider,
				topology, ClusterExecution.refusing(executor), timeout);
		connection.setPipeliningFlushPolicy(this.flushPolicy);
		return connection;
	}

	@Override
	protected @Nullable StatefulConnection<ByteBuffer, ByteBuffer> getSharedReactiveConnection() {
		StatefulConnection<ByteBuffer, ByteBuffer> shared = super.getSharedReactiveConnection();
		OperationContext context = OperationContext.getEnforced();
		// its commands may come from any thread
		return (context != null && shared instanceof FencedStatefulConnection<ByteBuffer, ByteBuffer, ?> fenced)
				? fenced.within(context) : shared;
	}

}
