package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;

import static org.awaitility.Awaitility.await;

/**
 * A server and its replica, watched by a Sentinel that is quick to act.
 */
final class MortalSentinelRedis extends MortalRedis {

	private static final String MASTER = "protected";

	private static final String[] SETTINGS = { "--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0",
			"--repl-diskless-sync", "yes" };

	private final int sentinelPort = TestServers.freePort();

	private final RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.sentinelPort));

	private final RedisSentinelCommands<String, String> sentinel;

	MortalSentinelRedis() {
		RedisProcess master = add(TestServers.freePort(), SETTINGS);
		master.start();
		startAsReplica(add(TestServers.freePort(), SETTINGS), master);
		Path configuration = directoryOf(this.sentinelPort).resolve("sentinel.conf");
		try {
			Files.writeString(configuration,
					"sentinel monitor %1$s 127.0.0.1 %2$d 1\nsentinel down-after-milliseconds %1$s 500\n"
						.formatted(MASTER, master.getPort()) + "sentinel failover-timeout " + MASTER + " 1500\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		add(this.sentinelPort, configuration.toString(), "--sentinel").start();
		this.sentinel = this.client.connectSentinel().sync();
		await().atMost(Duration.ofSeconds(30)).until(this::isWhole);
	}

	@Override
	public List<String> getProperties() {
		return List.of("spring.data.redis.sentinel.master=" + MASTER,
				"spring.data.redis.sentinel.nodes=127.0.0.1:" + this.sentinelPort);
	}

	@Override
	public RedisProcess findMaster(String key) {
		SocketAddress address;
		try {
			address = this.sentinel.getMasterAddrByName(MASTER);
		}
		catch (RedisException ex) {
			return null;
		}
		return getServers().stream()
			.filter((server) -> address instanceof InetSocketAddress master && master.getPort() == server.getPort()
					&& accepts(server, "SET writable yes PX 1"))
			.findFirst()
			.orElse(null);
	}

	@Override
	public void startAsReplica(RedisProcess server, RedisProcess master) {
		server.start("--replicaof", "127.0.0.1", Integer.toString(master.getPort()));
	}

	@Override
	public void demote(RedisProcess server, RedisProcess master) {
		// as a Sentinel does it, some seconds later
		server.console().send("REPLICAOF 127.0.0.1 " + master.getPort());
		server.console().send("CLIENT KILL TYPE normal");
		server.console().send("CLIENT KILL TYPE pubsub");
	}

	@Override
	public boolean isWhole() {
		List<Map<String, String>> replicas = this.sentinel.slaves(MASTER);
		return findMaster("") != null && replicas.size() == 1 && "slave".equals(replicas.get(0).get("flags"))
				&& "ok".equals(replicas.get(0).get("master-link-status"));
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
		super.close();
	}

}
