package io.fencing.fence.redis;

import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;

/**
 * Reads a key in a transaction that is discarded.
 */
record Discarded(String key) implements SessionCallback<Boolean> {

	@Override
	@SuppressWarnings("unchecked")
	public <K, V> Boolean execute(RedisOperations<K, V> template) {
		RedisOperations<String, String> operations = (RedisOperations<String, String>) template;
		operations.multi();
		operations.opsForValue().get(this.key);
		operations.discard();
		return true;
	}

}
