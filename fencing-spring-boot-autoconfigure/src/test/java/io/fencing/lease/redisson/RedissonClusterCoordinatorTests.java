package io.fencing.lease.redisson;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.fencing.FencedResource;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseCoordinatorContractTests;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The coordinator keeps the contract on a cluster of three masters (case 70), and a
 * master that does not answer costs the others nothing.
 */
class RedissonClusterCoordinatorTests extends LeaseCoordinatorContractTests {

	// the bus of the cluster listens 10000 above
	private static final int MAX_PORT = 55_000;

	private static RedisShardedCluster cluster;

	private static RedissonClientHolder clients;

	@BeforeAll
	static void startCluster() throws IOException {
		cluster = RedisShardedCluster.newRedisCluster()
			.withServerBuilder(RedisServer.newRedisServer().bind("127.0.0.1").setting("save \"\""))
			.serverPorts(Stream.generate(TestServers::freePort)
				.filter((port) -> port < MAX_PORT)
				.distinct()
				.limit(3)
				.toList())
			.initializationTimeout(Duration.ofSeconds(30))
			.shard("one", 0)
			.shard("two", 0)
			.shard("three", 0)
			.build();
		cluster.start();
		clients = RedissonClientHolder.owning(RedissonClusterCoordinatorTests::newClient);
		clients.get().join();
	}

	@AfterAll
	static void stopCluster() throws IOException {
		clients.close();
		cluster.stop();
	}

	@Test
	void whenOneMasterDoesNotAnswerThenLeasesOnOthersAreRenewed() {
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			LeaseRequest request = new LeaseRequest("test", newResource(), "me", Duration.ofSeconds(30));
			coordinator().tryAcquire(request, TIMEOUT);
			leases.add(new Lease(request, 1, System.nanoTime(), MonotonicClock.SYSTEM));
		}
		new RedisConsole(cluster.serverPorts().get(0)).send("CLIENT PAUSE 3000 ALL");
		LeaseCoordinator.Renewals answers = coordinator().renew(leases, Duration.ofSeconds(1));
		assertThat(answers.refused()).isEmpty();
		assertThat(answers.renewed()).hasSizeBetween(1, 29);
		elapse(Duration.ofSeconds(3));
	}

	@Override
	protected LeaseCoordinator coordinator() {
		return new RedissonLeaseCoordinator(clients, RedissonCoordinatorSettings.defaults());
	}

	@Override
	protected void elapse(Duration time) {
		await().pollDelay(time).until(() -> true);
	}

	@Override
	protected void loseAllData() {
		onEachMaster((console) -> console.send("FLUSHALL"));
	}

	@Override
	protected void loseToken(FencedResource resource) {
		onEachMaster((console) -> {
			try {
				console.send("DEL " + new LeaseKeys("fencing").token(resource));
			}
			catch (IllegalStateException ex) {
				assertThat(ex).hasMessageContaining("MOVED");
			}
		});
	}

	private static void onEachMaster(Consumer<RedisConsole> command) {
		cluster.serverPorts().forEach((port) -> command.accept(new RedisConsole(port)));
	}

	private static RedissonClient newClient() {
		Config config = new Config();
		ClusterServersConfig servers = config.useClusterServers();
		servers.setNodeAddresses(cluster.serverPorts().stream().map((port) -> "redis://127.0.0.1:" + port).toList());
		servers.setMasterConnectionMinimumIdleSize(2);
		servers.setSubscriptionConnectionMinimumIdleSize(1);
		return Redisson.create(config);
	}

}
