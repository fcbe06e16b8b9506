package io.fencing.fence.redis;

import io.fencing.context.OperationContext;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.RedisCodec;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one server whose commands go by the fence. As thread-safe as the
 * driver's.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedConnection<K, V> extends FencedStatefulConnection<K, V, StatefulRedisConnection<K, V>>
		implements StatefulRedisConnection<K, V> {

	private final RedisAsyncCommands<K, V> async;

	private final RedisCommands<K, V> sync;

	private final RedisReactiveCommands<K, V> reactive;

	/**
	 * Create a connection.
	 * @param delegate the driver's connection
	 * @param dispatch decides how commands are sent
	 * @param captured the operation that all commands belong to, {@code null} for that of
	 * the thread
	 */
	@SuppressWarnings("unchecked")
	FencedConnection(StatefulRedisConnection<K, V> delegate, FencedDispatch<K, V> dispatch,
			@Nullable OperationContext captured) {
		super(delegate, dispatch, captured);
		RedisCodec<K, V> codec = dispatch.getCodec();
		this.async = new RedisAsyncCommandsImpl<>(this, codec, delegate.getOptions().getJsonParser());
		this.sync = (RedisCommands<K, V>) SyncCommands.create(this, this.async, RedisCommands.class,
				RedisClusterCommands.class);
		this.reactive = new FencedReactiveCommands<>(this, codec, delegate.getOptions().getJsonParser());
	}

	@Override
	FencedConnection<K, V> within(OperationContext context) {
		return new FencedConnection<>(getDelegate(), getDispatch(), context);
	}

	@Override
	public RedisAsyncCommands<K, V> async() {
		return this.async;
	}

	@Override
	public RedisCommands<K, V> sync() {
		return this.sync;
	}

	@Override
	public RedisReactiveCommands<K, V> reactive() {
		return this.reactive;
	}

	@Override
	public boolean isMulti() {
		return getDelegate().isMulti();
	}

	@Override
	public void addListener(PushListener listener) {
		getDelegate().addListener(listener);
	}

	@Override
	public void removeListener(PushListener listener) {
		getDelegate().removeListener(listener);
	}

}
