package io.fencing.fence.redis;

import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Puts the fence around the driver's connections. Thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class ConnectionWrapper<K, V> {

	private final Supplier<RedisFence> fence;

	private final RedisCodec<K, V> codec;

	private final int database;

	private final FenceObserver<K, V> observer;

	/**
	 * Create a wrapper.
	 * @param fence gives the fence
	 * @param provider gives connections of the driver
	 * @param codec encodes their keys; Lettuce 6 does not tell it
	 * @param database the database that they are in
	 */
	ConnectionWrapper(Supplier<RedisFence> fence, LettuceConnectionProvider provider, RedisCodec<K, V> codec,
			int database) {
		this.fence = fence;
		this.codec = codec;
		this.database = database;
		this.observer = new FenceObserver<>(fence, () -> connect(provider), codec, database);
	}

	@SuppressWarnings("unchecked")
	private static <K, V> CompletionStage<StatefulConnection<K, V>> connect(LettuceConnectionProvider provider) {
		return provider.getConnectionAsync(StatefulConnection.class)
			.thenApply((connection) -> (StatefulConnection<K, V>) connection);
	}

	/**
	 * Wrap a connection.
	 * @param connection any connection of the driver
	 * @return the connection by the fence; one that only listens stays as it is
	 */
	@SuppressWarnings("unchecked")
	Object wrap(Object connection) {
		if (connection instanceof StatefulRedisPubSubConnection) {
			return connection;
		}
		if (connection instanceof StatefulRedisConnection<?, ?> single) {
			return single((StatefulRedisConnection<K, V>) single);
		}
		return (connection instanceof StatefulRedisClusterConnection<?, ?> cluster)
				? cluster((StatefulRedisClusterConnection<K, V>) cluster) : connection;
	}

	private FencedConnection<K, V> single(StatefulRedisConnection<K, V> connection) {
		ReadRoute route = (connection instanceof StatefulRedisMasterReplicaConnection) ? ReadRoute.REPLICA
				: ReadRoute.MASTER;
		return new FencedConnection<>(connection, dispatch(connection, this.database, route), null);
	}

	private FencedClusterConnection<K, V> cluster(StatefulRedisClusterConnection<K, V> connection) {
		return new FencedClusterConnection<>(this.fence, connection, dispatch(connection, 0, ReadRoute.CLUSTER),
				(node) -> dispatch(node, 0, ReadRoute.CLUSTER), null);
	}

	private FencedDispatch<K, V> dispatch(StatefulConnection<K, V> connection, int database, ReadRoute route) {
		return new FencedDispatch<>(this.fence, connection, this.codec, database, route, this.observer);
	}

}
