package io.fencing.lease.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;

import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestServers;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.config.Config;
import redis.embedded.RedisServer;

/**
 * A Redis server of one test class, since pausing it and losing its data would disturb
 * others, with a client that has a codec of its own.
 */
final class RedisFixture implements AutoCloseable {

	private final int port = TestServers.freePort();

	private RedisServer server;

	private final RedissonClientHolder clients = RedissonClientHolder.owning(() -> newClient(new Kryo5Codec()));

	static RedisFixture started() {
		RedisFixture fixture = new RedisFixture();
		fixture.start();
		// its creation takes longer than the short leases of tests last
		fixture.clients.get().join();
		return fixture;
	}

	static RedisFixture stopped() {
		return new RedisFixture();
	}

	int getPort() {
		return this.port;
	}

	void start() {
		try {
			this.server = TestServers.newRedis(this.port);
			this.server.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void stop() {
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	RedisConsole console() {
		return new RedisConsole(this.port);
	}

	RedissonClientHolder clients() {
		return this.clients;
	}

	RedissonClient newClient(Codec codec) {
		return newClient(this.port, codec);
	}

	static RedissonClient newClient(int port, Codec codec) {
		Config config = new Config();
		config.setCodec(codec);
		config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(2)
			.setSubscriptionConnectionMinimumIdleSize(1);
		return Redisson.create(config);
	}

	RedissonLeaseCoordinator coordinator() {
		return new RedissonLeaseCoordinator(this.clients, RedissonCoordinatorSettings.defaults());
	}

	RedissonLeaseCoordinator fairCoordinator() {
		return fairCoordinator(this.clients);
	}

	static RedissonLeaseCoordinator fairCoordinator(RedissonClientHolder clients) {
		return new RedissonLeaseCoordinator(clients,
				new RedissonCoordinatorSettings(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX,
						RedissonCoordinatorSettings.DEFAULT_TOKEN_RETENTION, true));
	}

	RedissonLeaseCoordinator coordinator(LeaseScripts scripts) {
		return new RedissonLeaseCoordinator(this.clients, RedissonCoordinatorSettings.defaults(), scripts);
	}

	@Override
	public void close() {
		this.clients.close();
		if (this.server != null && this.server.isActive()) {
			stop();
		}
	}

}
