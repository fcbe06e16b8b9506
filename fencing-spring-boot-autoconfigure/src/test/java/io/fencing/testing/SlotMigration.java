package io.fencing.testing;

import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;

/**
 * Moves one slot of a cluster from its master to another, key by key, as resharding does.
 * What is left moves when it is closed.
 */
public final class SlotMigration implements AutoCloseable {

	private final RedisClusterServers cluster;

	private final int slot;

	private final int sourcePort;

	private final int targetPort;

	private SlotMigration(RedisClusterServers cluster, int slot, int sourcePort, int targetPort) {
		this.cluster = cluster;
		this.slot = slot;
		this.sourcePort = sourcePort;
		this.targetPort = targetPort;
	}

	/**
	 * Begin to move a slot. Nothing has moved on return.
	 * @param cluster the cluster
	 * @param key any key in the slot
	 * @return the migration
	 */
	public static SlotMigration begin(RedisClusterServers cluster, String key) {
		int slot = SlotHash.getSlot(key);
		int source = cluster.masterOf(slot);
		int target = cluster.getMasterPorts().stream().filter((port) -> port != source).findFirst().orElseThrow();
		SlotMigration migration = new SlotMigration(cluster, slot, source, target);
		migration.target().clusterSetSlotImporting(slot, cluster.id(source));
		migration.source().clusterSetSlotMigrating(slot, cluster.id(target));
		return migration;
	}

	/**
	 * The master that the slot leaves.
	 */
	public RedisCommands<String, String> source() {
		return this.cluster.node(this.sourcePort);
	}

	/**
	 * The master that it goes to.
	 */
	public RedisCommands<String, String> target() {
		return this.cluster.node(this.targetPort);
	}

	/**
	 * Move one key.
	 * @param key the key
	 */
	public void move(String key) {
		source().migrate("127.0.0.1", this.targetPort, key, 0, 5_000);
	}

	/**
	 * Move what is left, and the slot.
	 */
	@Override
	public void close() {
		source().clusterGetKeysInSlot(this.slot, Integer.MAX_VALUE).forEach(this::move);
		String id = this.cluster.id(this.targetPort);
		target().clusterSetSlotNode(this.slot, id);
		source().clusterSetSlotNode(this.slot, id);
		this.cluster.getMasterPorts()
			.stream()
			.filter((port) -> port != this.sourcePort && port != this.targetPort)
			.forEach((port) -> this.cluster.node(port).clusterSetSlotNode(this.slot, id));
	}

}
