package io.fencing.fence.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisAdvancedClusterAsyncCommandsImpl;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.push.RedisClusterPushListener;
import io.lettuce.core.cluster.api.reactive.RedisAdvancedClusterReactiveCommands;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.ConnectionIntent;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a cluster whose commands, and those on the connections to its nodes, go
 * by the fence. As thread-safe as the driver's.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedClusterConnection<K, V> extends FencedStatefulConnection<K, V, StatefulRedisClusterConnection<K, V>>
		implements StatefulRedisClusterConnection<K, V> {

	private final Supplier<RedisFence> fence;

	private final Function<StatefulRedisConnection<K, V>, FencedDispatch<K, V>> nodes;

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
		super(delegate, dispatch, captured);
		this.fence = fence;
		this.nodes = nodes;
		RedisCodec<K, V> codec = dispatch.getCodec();
		this.async = new RedisAdvancedClusterAsyncCommandsImpl<>(this, codec, delegate.getOptions().getJsonParser());
		this.sync = (RedisAdvancedClusterCommands<K, V>) SyncCommands.create(this, this.async,
				RedisAdvancedClusterCommands.class);
		this.reactive = new FencedClusterReactiveCommands<>(this, codec, delegate.getOptions().getJsonParser());
	}

	@Override
	FencedClusterConnection<K, V> within(OperationContext context) {
		return new FencedClusterConnection<>(this.fence, getDelegate(), getDispatch(), this.nodes, context);
	}

	private StatefulRedisConnection<K, V> node(StatefulRedisConnection<K, V> connection) {
		return new FencedConnection<>(connection, this.nodes.apply(connection), getCaptured());
	}

	/**
	 * What goes by it goes past the fence: commands for all nodes at once.
	 */
	@Override
	public RedisChannelWriter getChannelWriter() {
		OperationContext context = (getCaptured() != null) ? getCaptured() : OperationContext.getEnforced();
		if (context != null) {
			throw this.fence.get()
				.unfenced(context, "CLUSTER",
						"it goes to all nodes, where no slot can check it; call it outside of the operation");
		}
		return getDelegate().getChannelWriter();
	}

	@Override
	public StatefulRedisConnection<K, V> getConnection(String nodeId, ConnectionIntent connectionIntent) {
		return node(getDelegate().getConnection(nodeId, connectionIntent));
	}

	@Override
	public CompletableFuture<StatefulRedisConnection<K, V>> getConnectionAsync(String nodeId,
			ConnectionIntent connectionIntent) {
		return getDelegate().getConnectionAsync(nodeId, connectionIntent).thenApply(this::node);
	}

	@Override
	public StatefulRedisConnection<K, V> getConnection(String host, int port, ConnectionIntent connectionIntent) {
		return node(getDelegate().getConnection(host, port, connectionIntent));
	}

	@Override
	public CompletableFuture<StatefulRedisConnection<K, V>> getConnectionAsync(String host, int port,
			ConnectionIntent connectionIntent) {
		return getDelegate().getConnectionAsync(host, port, connectionIntent).thenApply(this::node);
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
		getDelegate().setReadFrom(readFrom);
	}

	@Override
	public ReadFrom getReadFrom() {
		return getDelegate().getReadFrom();
	}

	@Override
	public Partitions getPartitions() {
		return getDelegate().getPartitions();
	}

	@Override
	public void addListener(RedisClusterPushListener listener) {
		getDelegate().addListener(listener);
	}

	@Override
	public void removeListener(RedisClusterPushListener listener) {
		getDelegate().removeListener(listener);
	}

}
