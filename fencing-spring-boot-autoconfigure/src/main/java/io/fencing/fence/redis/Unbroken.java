package io.fencing.fence.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;

/**
 * Notes that a connection was lost. The driver connects again by itself, but the server
 * has forgotten what the connection watches and that it is in a transaction. The driver
 * tells so before it sends anything on the new connection. Thread-safe.
 */
final class Unbroken implements RedisConnectionStateListener {

	private volatile boolean broken;

	@Override
	public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
		this.broken = true;
	}

	boolean isBroken() {
		return this.broken;
	}

}
