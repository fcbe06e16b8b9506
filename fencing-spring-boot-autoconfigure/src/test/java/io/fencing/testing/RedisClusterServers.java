package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import redis.embedded.RedisServer;

import org.springframework.util.FileSystemUtils;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of three masters, the first of which has a replica. One of each version
 * per JVM, started on first use on free loopback ports, stopped when the JVM ends.
 */
public final class RedisClusterServers implements AutoCloseable {

	private static final int MASTERS = 3;

	private final Map<Integer, RedisServer> servers = new LinkedHashMap<>();

	private final Map<Integer, RedisCommands<String, String>> nodes = new LinkedHashMap<>();

	private final RedisClient client = RedisClient.create();

	private final List<Integer> ports;

	private final Path directory;

	private RedisClusterServers(BiFunction<Integer, String[], RedisServer> create) {
		try {
			this.directory = Files.createTempDirectory("redis-cluster");
			for (int i = 0; i <= MASTERS; i++) {
				int port = TestServers.freePort();
				RedisServer server = create.apply(port,
						new String[] { "dir " + this.directory, "cluster-enabled yes",
								"cluster-config-file nodes-" + port + ".conf", "cluster-node-timeout 15000",
								"cluster-require-full-coverage no", "cluster-allow-replica-migration no",
								"repl-diskless-sync-delay 0" });
				server.start();
				this.servers.put(port, server);
				this.nodes.put(port, this.client.connect(RedisURI.create("127.0.0.1", port)).sync());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.ports = new ArrayList<>(this.servers.keySet());
		join();
	}

	private RedisClusterServers stoppedAtTheEnd() {
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
		return this;
	}

	/**
	 * Start some of Redis 6.2 of the test's own.
	 * @return the running servers
	 */
	public static RedisClusterServers start() {
		return new RedisClusterServers(TestServers::newRedis);
	}

	/**
	 * The cluster of Redis 6.2.
	 */
	public static RedisClusterServers shared() {
		return Redis6.SERVERS;
	}

	/**
	 * The cluster of Redis 7.
	 */
	public static RedisClusterServers shared7() {
		return Redis7.SERVERS;
	}

	private void join() {
		for (int i = 0; i < MASTERS; i++) {
			int[] slots = IntStream.range(i * SlotHash.SLOT_COUNT / MASTERS, (i + 1) * SlotHash.SLOT_COUNT / MASTERS)
				.toArray();
			node(this.ports.get(i)).clusterAddSlots(slots);
			node(this.ports.get(i)).clusterSetConfigEpoch(i + 1);
		}
		for (int port : this.ports.subList(1, this.ports.size())) {
			node(port).clusterMeet("127.0.0.1", this.ports.get(0));
		}
		Duration limit = Duration.ofSeconds(60);
		await().atMost(limit).until(() -> this.nodes.values().stream().allMatch(this::knowsAll));
		node(replicaPort()).clusterReplicate(id(this.ports.get(0)));
		await().atMost(limit)
			.until(() -> this.nodes.values()
				.stream()
				.allMatch((node) -> node.clusterNodes().contains("slave")
						&& node.clusterInfo().contains("cluster_slots_ok:" + SlotHash.SLOT_COUNT)
						&& node.clusterInfo().contains("cluster_state:ok")));
		await().atMost(limit).until(() -> node(replicaPort()).info("replication").contains("master_link_status:up"));
	}

	private boolean knowsAll(RedisCommands<String, String> node) {
		return node.clusterInfo().contains("cluster_known_nodes:" + this.ports.size())
				&& node.clusterInfo().contains("cluster_state:ok") && !node.clusterNodes().contains("handshake");
	}

	/**
	 * The nodes, as {@code host:port}, masters first.
	 */
	public List<String> getNodes() {
		return this.ports.stream().map((port) -> "127.0.0.1:" + port).toList();
	}

	/**
	 * The ports of the masters.
	 */
	public List<Integer> getMasterPorts() {
		return this.ports.subList(0, MASTERS);
	}

	/**
	 * The port of the replica of the first master.
	 */
	public int replicaPort() {
		return this.ports.get(MASTERS);
	}

	/**
	 * A connection to one node alone.
	 */
	public RedisCommands<String, String> node(int port) {
		return this.nodes.get(port);
	}

	/**
	 * What a node is called in its cluster.
	 */
	String id(int port) {
		return node(port).clusterMyId();
	}

	/**
	 * The port of the master that has a slot, once all masters know it.
	 */
	public int masterOf(int slot) {
		return await()
			.until(() -> getMasterPorts().stream().map((port) -> masterOf(slot, port)).distinct().toList(),
					(masters) -> masters.size() == 1 && masters.get(0) != null)
			.get(0);
	}

	private Integer masterOf(int slot, int askedPort) {
		return ClusterPartitionParser.parse(node(askedPort).clusterNodes())
			.stream()
			.filter((node) -> node.hasSlot(slot))
			.map((node) -> node.getUri().getPort())
			.findFirst()
			.orElse(null);
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		try {
			for (RedisServer server : this.servers.values()) {
				server.stop();
			}
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static final class Redis6 {

		static final RedisClusterServers SERVERS = new RedisClusterServers(TestServers::newRedis).stoppedAtTheEnd();

	}

	private static final class Redis7 {

		static final RedisClusterServers SERVERS = new RedisClusterServers(TestServers::newRedis7).stoppedAtTheEnd();

	}

}
