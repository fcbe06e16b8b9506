package io.fencing.fence.redis;

import java.util.List;

import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;

/**
 * Increments a key twice and sets another one in a transaction; something happens in
 * between.
 */
record InTransaction(Runnable between, String key) implements SessionCallback<List<Object>> {

	@Override
	@SuppressWarnings("unchecked")
	public <K, V> List<Object> execute(RedisOperations<K, V> template) {
		RedisOperations<String, String> operations = (RedisOperations<String, String>) template;
		operations.multi();
		operations.opsForValue().increment(this.key);
		this.between.run();
		operations.opsForValue().increment(this.key);
		operations.opsForValue().set(this.key + ":2", "x");
		return operations.exec();
	}

}
