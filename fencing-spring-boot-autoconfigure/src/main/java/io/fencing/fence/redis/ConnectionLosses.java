package io.fencing.fence.redis;

import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;

/**
 * Counts how often a connection was lost. The driver connects again by itself, but the
 * server has forgotten what the connection watches and that it is in a transaction. The
 * driver tells so before it sends anything on the new connection. Listens as long as the
 * connection lives, since a command may wait for its answer longer than its caller.
 * Thread-safe.
 */
final class ConnectionLosses implements RedisConnectionStateListener {

	private final AtomicInteger count = new AtomicInteger();

	@Override
	public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
		this.count.incrementAndGet();
	}

	int count() {
		return this.count.get();
	}

}
