package io.fencing.sample.ledger;

import java.math.BigDecimal;
import java.time.Duration;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencingException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * Balances in Redis, for those who only look. Written after the movement has committed,
 * and in an operation of its own: if the write is refused, the movement stays done, and
 * its caller must not be told to repeat it. A worker that was held up between its read in
 * the database and its write in the cache is refused by Redis, so that an old balance
 * does not replace a newer one. What could not be written ends with the entry.
 */
@Component
class BalanceCache {

	static final Duration TIME_TO_LIVE = Duration.ofSeconds(30);

	private static final Logger logger = LoggerFactory.getLogger(BalanceCache.class);

	private final Ledger ledger;

	private final StringRedisTemplate redis;

	private final FencedOperations operations;

	BalanceCache(Ledger ledger, StringRedisTemplate redis, FencedOperations operations) {
		this.ledger = ledger;
		this.redis = redis;
		this.operations = operations;
	}

	BigDecimal get(String account) {
		try {
			String cached = this.redis.opsForValue().get(key(account));
			return (cached != null) ? new BigDecimal(cached) : load(account);
		}
		catch (FencingException | DataAccessException ex) {
			return this.ledger.balance(account);
		}
	}

	/**
	 * Have the cache follow movements that have committed.
	 * @param accounts the accounts
	 */
	void update(String... accounts) {
		for (String account : accounts) {
			try {
				load(account);
			}
			catch (FencingException | DataAccessException ex) {
				logger.info("A balance was not cached, its old entry ends within {}: {}", TIME_TO_LIVE,
						ex.getClass().getSimpleName());
			}
		}
	}

	private BigDecimal load(String account) {
		return this.operations.call(FencedOperationRequest.of("cache-balance", "account:" + account), () -> {
			BigDecimal balance = this.ledger.balance(account);
			this.redis.opsForValue().set(key(account), balance.toPlainString(), TIME_TO_LIVE);
			return balance;
		});
	}

	static String key(String account) {
		return "ledger:balance:" + account;
	}

}
