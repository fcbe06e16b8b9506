package io.fencing.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.RedisSentinelServers;
import io.fencing.testing.SlotMigration;
import io.fencing.testing.TestServers;
import io.lettuce.core.cluster.SlotHash;
import redis.embedded.RedisServer;

/**
 * Running servers of one kind, as {@code spring.data.redis.*} names them, which can be
 * made to fail.
 */
interface RedisTopology extends AutoCloseable {

	/**
	 * The properties of the application.
	 */
	List<String> properties();

	/**
	 * The master that keeps the resources.
	 */
	RedisConsole master();

	/**
	 * The replica of that master.
	 */
	default RedisConsole replica() {
		throw new UnsupportedOperationException();
	}

	/**
	 * A resource that the master keeps.
	 * @param name part of its name
	 */
	default FencedResource resource(String name) {
		return new FencedResourceFactory("failures", null).create(name);
	}

	/**
	 * The master ends for good, and its replica takes over.
	 */
	default void failOver() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Another master gets the slot of a resource.
	 * @param resource the resource
	 */
	default void moveSlot(FencedResource resource) {
		throw new UnsupportedOperationException();
	}

	@Override
	void close();

	static RedisTopology standalone() {
		int port = TestServers.freePort();
		RedisServer server = TestServers.newRedis(port);
		run(server::start);
		return new RedisTopology() {
			@Override
			public List<String> properties() {
				return List.of("spring.data.redis.port=" + port);
			}

			@Override
			public RedisConsole master() {
				return new RedisConsole(port);
			}

			@Override
			public void close() {
				run(server::stop);
			}
		};
	}

	static RedisTopology sentinel() {
		// a master may be silent for longer than the longest lease of these tests
		RedisSentinelServers servers = RedisSentinelServers.start(Duration.ofSeconds(4));
		return new RedisTopology() {
			@Override
			public List<String> properties() {
				return List.of("spring.data.redis.sentinel.master=" + RedisSentinelServers.MASTER,
						"spring.data.redis.sentinel.nodes=" + servers.getSentinel());
			}

			@Override
			public RedisConsole master() {
				return servers.master();
			}

			@Override
			public RedisConsole replica() {
				return servers.replica();
			}

			@Override
			public void failOver() {
				servers.stopMaster();
			}

			@Override
			public void close() {
				servers.close();
			}
		};
	}

	static RedisTopology cluster() {
		RedisClusterServers servers = RedisClusterServers.start();
		int port = servers.getMasterPorts().get(0);
		return new RedisTopology() {
			@Override
			public List<String> properties() {
				return List.of("spring.data.redis.cluster.nodes=" + String.join(",", servers.getNodes()));
			}

			@Override
			public RedisConsole master() {
				return new RedisConsole(port);
			}

			@Override
			public FencedResource resource(String name) {
				return IntStream.iterate(0, (i) -> i + 1)
					.mapToObj((i) -> RedisTopology.super.resource(name + i))
					.filter((resource) -> SlotHash.getSlot(resource.getKey()) < SlotHash.SLOT_COUNT / 3)
					.findFirst()
					.orElseThrow();
			}

			@Override
			public RedisConsole replica() {
				return new RedisConsole(servers.replicaPort());
			}

			@Override
			public void failOver() {
				servers.node(port).shutdown(false);
				// without waiting for the others to notice and vote
				servers.node(servers.replicaPort()).clusterFailover(true, true);
			}

			@Override
			public void moveSlot(FencedResource resource) {
				SlotMigration.begin(servers, "{" + resource.getKey() + "}").close();
			}

			@Override
			public void close() {
				servers.close();
			}
		};
	}

	private static void run(Action action) {
		try {
			action.run();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * What may fail for the operating system's reasons.
	 */
	interface Action {

		/**
		 * Do it.
		 * @throws IOException if it fails
		 */
		void run() throws IOException;

	}

}
