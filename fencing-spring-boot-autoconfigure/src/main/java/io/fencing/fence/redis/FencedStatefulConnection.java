package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.fencing.context.OperationContext;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * What a fenced connection to a server and one to a cluster have in common: commands go
 * by the dispatch, everything else is the driver's connection. As thread-safe as that.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 * @param <C> the type of the driver's connection
 */
abstract class FencedStatefulConnection<K, V, C extends StatefulConnection<K, V>>
		implements StatefulConnection<K, V>, LettuceVersions<K, V> {

	private final C delegate;

	private final FencedDispatch<K, V> dispatch;

	private volatile @Nullable OperationContext captured;

	/**
	 * Create a connection.
	 * @param delegate the driver's connection
	 * @param dispatch decides how commands are sent
	 * @param captured the operation that all commands belong to, {@code null} for that of
	 * the thread
	 */
	FencedStatefulConnection(C delegate, FencedDispatch<K, V> dispatch, @Nullable OperationContext captured) {
		this.delegate = delegate;
		this.dispatch = dispatch;
		this.captured = captured;
	}

	/**
	 * The same connection for one operation, whatever thread its commands come from.
	 * @param context the operation
	 * @return the connection
	 */
	abstract StatefulConnection<K, V> within(OperationContext context);

	/**
	 * Let all commands from now on belong to one operation, whatever thread they come
	 * from.
	 * @param context the operation, {@code null} for that of the thread
	 */
	void capture(@Nullable OperationContext context) {
		this.captured = context;
	}

	C getDelegate() {
		return this.delegate;
	}

	@Nullable OperationContext getCaptured() {
		return this.captured;
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
		this.dispatch.sendBundle();
		this.delegate.flushCommands();
	}

	@Override
	public RedisCodec<K, V> getCodec() {
		return this.dispatch.getCodec();
	}

	@Override
	public void reset() {
		throw new UnsupportedOperationException("A fenced connection cannot be reset; close it instead");
	}

}
