package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * A Redis server, its replica, and a Sentinel that watches them, on free loopback ports.
 */
public final class RedisSentinelServers implements AutoCloseable {

	/**
	 * What the Sentinel calls the server.
	 */
	public static final String MASTER = "protected";

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final int masterPort = TestServers.freePort();

	private final int replicaPort = TestServers.freePort();

	private final int sentinelPort = TestServers.freePort();

	private final RedisServer master = TestServers.newRedis(this.masterPort);

	private final RedisServer replica = TestServers.newRedis(this.replicaPort,
			"replicaof 127.0.0.1 " + this.masterPort);

	private final RedisSentinel sentinel;

	private RedisSentinelServers(Duration downAfter) {
		this.sentinel = RedisSentinel.newRedisSentinel()
			.port(this.sentinelPort)
			.masterName(MASTER)
			.masterPort(this.masterPort)
			.downAfterMilliseconds(downAfter.toMillis())
			.failOverTimeout(LIMIT.toMillis())
			.build();
		try {
			this.master.start();
			this.replica.start();
			this.sentinel.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.sentinelPort));
		await().atMost(LIMIT).until(() -> client.connectSentinel().sync().slaves(MASTER).size() == 1);
		client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
	}

	/**
	 * The ones of this JVM, started on first use, stopped when it ends. They never fail
	 * over.
	 */
	public static RedisSentinelServers shared() {
		return Shared.SERVERS;
	}

	/**
	 * Start some of the test's own.
	 * @param downAfter after what silence the Sentinel takes a server to be down
	 * @return the running servers
	 */
	public static RedisSentinelServers start(Duration downAfter) {
		return new RedisSentinelServers(downAfter);
	}

	/**
	 * The Sentinel, as {@code host:port}.
	 */
	public String getSentinel() {
		return "127.0.0.1:" + this.sentinelPort;
	}

	/**
	 * The server that is the master until it is stopped.
	 */
	public RedisConsole master() {
		return new RedisConsole(this.masterPort);
	}

	/**
	 * The server that takes its place.
	 */
	public RedisConsole replica() {
		return new RedisConsole(this.replicaPort);
	}

	/**
	 * The master goes away for good.
	 */
	public void stopMaster() {
		stop(this.master);
	}

	private static void stop(RedisServer server) {
		try {
			server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.sentinel.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		stop(this.replica);
		stop(this.master);
	}

	private static final class Shared {

		static final RedisSentinelServers SERVERS = start();

		private static RedisSentinelServers start() {
			RedisSentinelServers servers = new RedisSentinelServers(Duration.ofHours(1));
			Runtime.getRuntime().addShutdownHook(new Thread(servers::close));
			return servers;
		}

	}

}
