package io.fencing.fence.redis;

import java.time.Duration;
import java.util.Set;

import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.RedisSentinelServers;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The master goes away while operations run, and its replica takes its place, without
 * what had not been replicated.
 */
class SentinelFailoverTests {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	// rule 3
	@Test
	void rule3WhenReplicaWithoutTheGuardIsPromotedThenStaleAndNextOperationWorks() throws Exception {
		try (RedisSentinelServers servers = RedisSentinelServers.start(Duration.ofSeconds(1));
				FencedRedis redis = new FencedRedis(() -> new LettuceConnectionFactory(
						new RedisSentinelConfiguration(RedisSentinelServers.MASTER, Set.of(servers.getSentinel())),
						LettuceClientConfiguration.builder().commandTimeout(Duration.ofSeconds(1)).build()))) {
			StringRedisTemplate template = redis.template();
			String lost = redis.key("lost");
			String kept = redis.key("kept");
			Held lostHeld = FencedRedis.next(lost);
			Held keptHeld = FencedRedis.next(kept);
			OperationContext lostOperation = FencedRedis.operation(lostHeld);
			OperationContext keptOperation = FencedRedis.operation(keptHeld);
			FencedRedis.in(lostOperation, () -> template.opsForValue().increment(lost));
			FencedRedis.in(keptOperation, () -> template.opsForValue().increment(kept));
			await().until(() -> "1".equals(servers.replica().send("EXISTS " + redis.guard(keptHeld))));
			servers.replica().send("CONFIG SET replica-read-only no");
			servers.replica().send("DEL " + redis.guard(lostHeld));
			servers.stopMaster();
			await().atMost(LIMIT)
				.ignoreExceptionsInstanceOf(DataAccessException.class)
				.untilAsserted(() -> assertThatExceptionOfType(StaleTokenException.class)
					.isThrownBy(() -> FencedRedis.in(lostOperation, () -> template.opsForValue().increment(lost)))
					.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.MISSING)));
			assertThat(servers.replica().send("GET " + lost)).isEqualTo("1");
			assertThat(servers.replica().send("EXISTS " + redis.guard(lostHeld))).isEqualTo("0");
			assertThat(FencedRedis.in(keptOperation, () -> template.opsForValue().increment(kept))).isEqualTo(2);
			assertThat(FencedRedis.in(FencedRedis.operation(FencedRedis.next(lost)),
					() -> template.opsForValue().increment(lost)))
				.isEqualTo(2);
		}
	}

}
