package io.fencing.architecture.broken.lease;

import io.fencing.architecture.broken.autoconfigure.SeenByAll;
import io.lettuce.core.RedisClient;
import org.redisson.api.RedissonClient;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.SpringApplication;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Sees what its package may not see, and uses libraries that have other homes.
 */
class Broken {

	SeenByAll forbidden;

	SpringApplication boot;

	RedissonClient redisson;

	JsonMapper json;

	RedisConnectionFactory dataRedis;

	RedisClient lettuce;

}
