package io.fencing.fence.redis;

import java.util.List;

import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;

/**
 * Writes a counter and notes that it was written, in one transaction.
 */
record Written(String key, String value, String list) implements SessionCallback<List<Object>> {

	@Override
	@SuppressWarnings("unchecked")
	public <K, V> List<Object> execute(RedisOperations<K, V> template) {
		RedisOperations<String, String> operations = (RedisOperations<String, String>) template;
		operations.multi();
		operations.opsForValue().set(this.key, this.value);
		operations.opsForList().rightPush(this.list, this.value);
		return operations.exec();
	}

}
