package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Balances in Redis, by way of a given connection factory.
 */
final class RedisAccounts implements LabAccounts {

	private static final Duration LIFETIME = Duration.ofHours(1);

	private final PausingCommands pauses;

	private final StringRedisTemplate redis;

	RedisAccounts(PausingCommands pauses, RedisConnectionFactory factory) {
		this.pauses = pauses;
		this.redis = new StringRedisTemplate(factory);
	}

	@Override
	public void pauseBeforeSending(Runnable pause) {
		this.pauses.pauseNextCommand(pause);
	}

	@Override
	public void open(String account, BigDecimal balance) {
		write(account, balance);
	}

	@Override
	public BigDecimal read(String account) {
		return new BigDecimal(Objects.requireNonNull(this.redis.opsForValue().get(key(account))));
	}

	@Override
	public void write(String account, BigDecimal balance) {
		this.redis.opsForValue().set(key(account), balance.toPlainString(), LIFETIME);
	}

	private static String key(String account) {
		return "lab:balance:" + account;
	}

}
