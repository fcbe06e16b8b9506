package io.fencing.fence.redis;

import io.lettuce.core.ReadFrom;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;

/**
 * Where the commands of a connection go.
 */
enum ReadRoute {

	/** All to the master. */
	MASTER,

	/** Reads may go to a replica. */
	REPLICA,

	/** To the node of the slot. */
	CLUSTER;

	/**
	 * Whether reads see what was written just before.
	 * @param connection the connection of the driver
	 * @return whether they go to the master
	 */
	boolean readsMaster(StatefulConnection<?, ?> connection) {
		return this == MASTER
				|| (connection instanceof StatefulRedisClusterConnection<?, ?> cluster && readsMaster(cluster));
	}

	private static boolean readsMaster(StatefulRedisClusterConnection<?, ?> cluster) {
		return cluster.getReadFrom() == null || cluster.getReadFrom() == ReadFrom.UPSTREAM;
	}

}
