package io.fencing.fence.redis;

import java.util.function.Supplier;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/**
 * Puts the fence around the driver's connections. Thread-safe.
 */
final class ConnectionWrapper {

	private final Supplier<RedisFence> fence;

	private final int database;

	ConnectionWrapper(Supplier<RedisFence> fence, int database) {
		this.fence = fence;
		this.database = database;
	}

	/**
	 * Wrap a connection.
	 * @param connection any connection of the driver
	 * @return the connection by the fence; one that only listens stays as it is
	 */
	Object wrap(Object connection) {
		if (connection instanceof StatefulRedisPubSubConnection) {
			return connection;
		}
		if (connection instanceof StatefulRedisConnection<?, ?> single) {
			return single(single);
		}
		return (connection instanceof StatefulRedisClusterConnection<?, ?> cluster) ? cluster(cluster) : connection;
	}

	private <K, V> FencedConnection<K, V> single(StatefulRedisConnection<K, V> connection) {
		ReadRoute route = (connection instanceof StatefulRedisMasterReplicaConnection) ? ReadRoute.REPLICA
				: ReadRoute.MASTER;
		return new FencedConnection<>(connection, new FencedDispatch<>(this.fence, connection, this.database, route),
				null);
	}

	private <K, V> FencedClusterConnection<K, V> cluster(StatefulRedisClusterConnection<K, V> connection) {
		return new FencedClusterConnection<>(this.fence, connection,
				new FencedDispatch<>(this.fence, connection, 0, ReadRoute.CLUSTER),
				(node) -> new FencedDispatch<>(this.fence, node, 0, ReadRoute.CLUSTER), null);
	}

}
