package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.fencing.context.OperationContext;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one server whose commands go by the fence. As thread-safe as the
 * driver's.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedConnection<K, V> implements StatefulRedisConnection<K, V> {

	private final StatefulRedisConnection<K, V> delegate;

	private final FencedDispatch<K, V> dispatch;

	private final @Nullable OperationContext captured;

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
		this.delegate = delegate;
		this.dispatch = dispatch;
		this.captured = captured;
		RedisCodec<K, V> codec = delegate.getCodec();
		this.async = new RedisAsyncCommandsImpl<>(this, codec, delegate.getOptions().getJsonParser());
		this.sync = (RedisCommands<K, V>) SyncCommands.create(this, this.async, RedisCommands.class,
				RedisClusterCommands.class);
		this.reactive = new RedisReactiveCommandsImpl<>(this, codec, delegate.getOptions().getJsonParser());
	}

	/**
	 * The same connection for one operation, whatever thread its commands come from.
	 * @param context the operation
	 * @return the connection
	 */
	FencedConnection<K, V> within(OperationContext context) {
		return new FencedConnection<>(this.delegate, this.dispatch, context);
	}

	StatefulRedisConnection<K, V> getDelegate() {
		return this.delegate;
	}

	FencedDispatch<K, V> getDispatch() {
		return this.dispatch;
	}

	@Override
	public <T> RedisCommand<K, V, T> dispatch(RedisCommand<K, V, T> command) {
		return this.dispatch.dispatch(command, this.captured);
	}

	@Override
	public Collection<RedisCommand<K, V, ?>> dispatch(Collection<? extends RedisCommand<K, V, ?>> commands) {
		List<RedisCommand<K, V, ?>> dispatched = new ArrayList<>(commands.size());
		commands.forEach((command) -> dispatched.add(dispatch(command)));
		return dispatched;
	}

	@Override
	public void setAutoFlushCommands(boolean autoFlush) {
		this.dispatch.setFlushedByHand(!autoFlush);
		this.delegate.setAutoFlushCommands(autoFlush);
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
		return this.delegate.isMulti();
	}

	@Override
	public void addListener(PushListener listener) {
		this.delegate.addListener(listener);
	}

	@Override
	public void removeListener(PushListener listener) {
		this.delegate.removeListener(listener);
	}

	@Override
	public void addListener(RedisConnectionStateListener listener) {
		this.delegate.addListener(listener);
	}

	@Override
	public void removeListener(RedisConnectionStateListener listener) {
		this.delegate.removeListener(listener);
	}

	@Override
	public void setTimeout(Duration timeout) {
		this.delegate.setTimeout(timeout);
	}

	@Override
	public Duration getTimeout() {
		return this.delegate.getTimeout();
	}

	@Override
	public void close() {
		this.delegate.close();
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return this.delegate.closeAsync();
	}

	@Override
	public boolean isOpen() {
		return this.delegate.isOpen();
	}

	@Override
	public ClientOptions getOptions() {
		return this.delegate.getOptions();
	}

	@Override
	public ClientResources getResources() {
		return this.delegate.getResources();
	}

	@Override
	public void flushCommands() {
		this.delegate.flushCommands();
	}

	@Override
	public RedisCodec<K, V> getCodec() {
		return this.delegate.getCodec();
	}

}
