package io.fencing.sample.ledger;

import java.math.BigDecimal;
import java.util.UUID;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cached balance follows the ledger.
 */
@SampleTest
class BalanceCacheTests {

	private final String account = "acc-" + UUID.randomUUID();

	@LocalServerPort
	private int port;

	@Autowired
	private StringRedisTemplate redis;

	private Http http;

	@BeforeEach
	void connect() {
		this.http = new Http(this.port);
	}

	@Test
	void whenMovementHasCommittedThenItsBalanceIsCachedForAWhile() {
		deposit("10.00");
		assertThat(cached()).isEqualTo("10.00");
		deposit("2.50");
		assertThat(cached()).isEqualTo("12.50");
		assertThat(this.redis.getExpire(BalanceCache.key(this.account))).isBetween(1L,
				BalanceCache.TIME_TO_LIVE.toSeconds());
	}

	@Test
	void whenCachedThenReadFromTheCacheElseFromTheDatabase() {
		deposit("10.00");
		this.redis.opsForValue().set(BalanceCache.key(this.account), "11.00");
		assertThat(balance()).isEqualTo("11.00");
		this.redis.delete(BalanceCache.key(this.account));
		assertThat(balance()).isEqualTo("10.00");
		assertThat(cached()).isEqualTo("10.00");
	}

	@Test
	void whenMovementIsRefusedThenCacheStays() {
		deposit("10.00");
		this.http.postJson("{\"amount\": 11}", "/accounts/{id}/withdrawals", this.account)
			.expectStatus()
			.isEqualTo(422);
		assertThat(cached()).isEqualTo("10.00");
	}

	private BigDecimal balance() {
		return this.http.get("/accounts/{id}", this.account)
			.expectStatus()
			.isOk()
			.expectBody(Account.class)
			.returnResult()
			.getResponseBody()
			.balance();
	}

	private String cached() {
		return this.redis.opsForValue().get(BalanceCache.key(this.account));
	}

	private void deposit(String amount) {
		this.http.postJson("{\"amount\": " + amount + "}", "/accounts/{id}/deposits", this.account)
			.expectStatus()
			.isOk();
	}

}
