package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisAdvancedClusterAsyncCommandsImpl;
import io.lettuce.core.cluster.RedisAdvancedClusterReactiveCommandsImpl;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.push.RedisClusterPushListener;
import io.lettuce.core.cluster.api.reactive.RedisAdvancedClusterReactiveCommands;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.ConnectionIntent;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a cluster whose commands, and those on the connections to its nodes, go
 * by the fence. As thread-safe as the driver's.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedClusterConnection<K, V> implements StatefulRedisClusterConnection<K, V> {

	private final Supplier<RedisFence> fence;

	private final StatefulRedisClusterConnection<K, V> delegate;

	private final FencedDispatch<K, V> dispatch;

	private final Function<StatefulRedisConnection<K, V>, FencedDispatch<K, V>> nodes;

	private final @Nullable OperationContext captured;

	private final RedisAdvancedClusterAsyncCommands<K, V> async;

	private final RedisAdvancedClusterCommands<K, V> sync;

	private final RedisAdvancedClusterReactiveCommands<K, V> reactive;

	/**
	 * Create a connection.
	 * @param fence gives the fence
	 * @param delegate the driver's connection
	 * @param dispatch decides how commands are sent
	 * @param nodes makes what decides it for the connection to one node
	 * @param captured the operation that all commands belong to, {@code null} for that of
	 * the thread
	 */
	@SuppressWarnings("unchecked")
	FencedClusterConnection(Supplier<RedisFence> fence, StatefulRedisClusterConnection<K, V> delegate,
			FencedDispatch<K, V> dispatch, Function<StatefulRedisConnection<K, V>, FencedDispatch<K, V>> nodes,
			@Nullable OperationContext captured) {
		this.fence = fence;
		this.delegate = delegate;
		this.dispatch = dispatch;
		this.nodes = nodes;
		this.captured = captured;
		RedisCodec<K, V> codec = delegate.getCodec();
		this.async = new RedisAdvancedClusterAsyncCommandsImpl<>(this, codec, delegate.getOptions().getJsonParser());
		this.sync = (RedisAdvancedClusterCommands<K, V>) SyncCommands.create(this, this.async,
				RedisAdvancedClusterCommands.class);
		this.reactive = new RedisAdvancedClusterReactiveCommandsImpl<>(this, codec,
				delegate.getOptions().getJsonParser());
	}

	/**
	 * The same connection for one operation, whatever thread its commands come from.
	 * @param context the operation
	 * @return the connection
	 */
	FencedClusterConnection<K, V> within(OperationContext context) {
		return new FencedClusterConnection<>(this.fence, this.delegate, this.dispatch, this.nodes, context);
	}

	StatefulRedisClusterConnection<K, V> getDelegate() {
		return this.delegate;
	}

	FencedDispatch<K, V> getDispatch() {
		return this.dispatch;
	}

	private StatefulRedisConnection<K, V> node(StatefulRedisConnection<K, V> connection) {
		return new FencedConnection<>(connection, this.nodes.apply(connection), this.captured);
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

	/**
	 * What goes by it goes past the fence: commands for all nodes at once.
	 */
	@Override
	public RedisChannelWriter getChannelWriter() {
		OperationContext context = (this.captured != null) ? this.captured : OperationContext.getEnforced();
		if (context != null) {
			throw this.fence.get()
				.unfenced(context, "CLUSTER",
						"it goes to all nodes, where no slot can check it; call it outside of the operation");
		}
		return this.delegate.getChannelWriter();
	}

	@Override
	public StatefulRedisConnection<K, V> getConnection(String nodeId, ConnectionIntent connectionIntent) {
		return node(this.delegate.getConnection(nodeId, connectionIntent));
	}

	@Override
	public CompletableFuture<StatefulRedisConnection<K, V>> getConnectionAsync(String nodeId,
			ConnectionIntent connectionIntent) {
		return this.delegate.getConnectionAsync(nodeId, connectionIntent).thenApply(this::node);
	}

	@Override
	public StatefulRedisConnection<K, V> getConnection(String host, int port, ConnectionIntent connectionIntent) {
		return node(this.delegate.getConnection(host, port, connectionIntent));
	}

	@Override
	public CompletableFuture<StatefulRedisConnection<K, V>> getConnectionAsync(String host, int port,
			ConnectionIntent connectionIntent) {
		return this.delegate.getConnectionAsync(host, port, connectionIntent).thenApply(this::node);
	}

	@Override
	public void setAutoFlushCommands(boolean autoFlush) {
		this.dispatch.setFlushedByHand(!autoFlush);
		this.delegate.setAutoFlushCommands(autoFlush);
	}

	@Override
	public RedisAdvancedClusterAsyncCommands<K, V> async() {
		return this.async;
	}

	@Override
	public RedisAdvancedClusterCommands<K, V> sync() {
		return this.sync;
	}

	@Override
	public RedisAdvancedClusterReactiveCommands<K, V> reactive() {
		return this.reactive;
	}

	@Override
	public void setReadFrom(ReadFrom readFrom) {
		this.delegate.setReadFrom(readFrom);
	}

	@Override
	public ReadFrom getReadFrom() {
		return this.delegate.getReadFrom();
	}

	@Override
	public Partitions getPartitions() {
		return this.delegate.getPartitions();
	}

	@Override
	public void addListener(RedisClusterPushListener listener) {
		this.delegate.addListener(listener);
	}

	@Override
	public void removeListener(RedisClusterPushListener listener) {
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
