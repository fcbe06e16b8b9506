package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.cluster.SlotHash;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of three masters with a replica each, quick to vote. It starts as if it
 * had been there before, so that no node has to meet another.
 */
final class MortalRedisCluster extends MortalRedis {

	private static final int MASTERS = 3;

	// the bus of a node has a port 10 000 higher
	private static final int MAX_PORT = 55_000;

	private final List<Integer> ports = IntStream.generate(TestServers::freePort)
		.filter((port) -> port < MAX_PORT)
		.distinct()
		.limit(2 * MASTERS)
		.boxed()
		.toList();

	MortalRedisCluster() {
		for (int i = 0; i < this.ports.size(); i++) {
			int port = this.ports.get(i);
			try {
				Files.writeString(directoryOf(port).resolve("nodes.conf"), nodesAsSeenBy(i));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			add(port, "--save", "", "--appendonly", "no", "--cluster-enabled", "yes", "--cluster-node-timeout", "800",
					"--cluster-require-full-coverage", "no", "--cluster-allow-replica-migration", "no",
					"--cluster-replica-validity-factor", "0", "--repl-diskless-sync", "yes",
					"--repl-diskless-sync-delay", "0")
				.start();
		}
		await().atMost(Duration.ofSeconds(30)).until(this::isWhole);
	}

	private String nodesAsSeenBy(int observer) {
		return IntStream.range(0, this.ports.size())
			.mapToObj((i) -> line(i, (i == observer) ? "myself," : ""))
			.collect(Collectors.joining("", "", "vars currentEpoch " + MASTERS + " lastVoteEpoch 0\n"));
	}

	private String line(int i, String myself) {
		int master = i % MASTERS;
		String slots = " " + master * SlotHash.SLOT_COUNT / MASTERS + "-"
				+ ((master + 1) * SlotHash.SLOT_COUNT / MASTERS - 1);
		return "%s 127.0.0.1:%d@%d %s%s %s 0 0 %d connected%s%n".formatted(id(i), this.ports.get(i),
				this.ports.get(i) + 10_000, myself, (i == master) ? "master" : "slave",
				(i == master) ? "-" : id(master), master + 1, (i == master) ? slots : "");
	}

	private static String id(int i) {
		return "%040x".formatted(i + 1);
	}

	@Override
	public List<String> getProperties() {
		return List.of("spring.data.redis.cluster.nodes="
				+ this.ports.stream().map((port) -> "127.0.0.1:" + port).collect(Collectors.joining(",")));
	}

	@Override
	public RedisProcess findMaster(String key) {
		// every other node redirects
		return getServers().stream().filter((server) -> accepts(server, "EXISTS " + key)).findFirst().orElse(null);
	}

	@Override
	public void startAsReplica(RedisProcess server, RedisProcess master) {
		server.start();
	}

	@Override
	public void demote(RedisProcess server, RedisProcess master) {
		// the others tell it
	}

	@Override
	public boolean isWhole() {
		return getServers().stream().allMatch((server) -> accepts(server, "PING")) && getServers().stream()
			.filter((server) -> accepts(server, "WAIT 1 1") && "1".equals(server.console().send("WAIT 1 1000")))
			.count() == MASTERS;
	}

}
