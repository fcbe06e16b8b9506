package io.fencing.sample.ledger;

import java.time.Duration;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;

import static org.awaitility.Awaitility.await;

/**
 * Case 35: the coordinator goes away and comes back.
 */
@SampleTest
@DirtiesContext
class CoordinatorDownTests {

	private static final String DEPOSIT = "/accounts/coordinator-down/deposits";

	private static final String ONE = "{\"amount\": 1.00}";

	@LocalServerPort
	private int port;

	@Autowired
	private RedisServer redis;

	@Test
	void whenCoordinatorIsDownThenUnavailableAndNothingIsDoneUntilItIsBack() throws Exception {
		Http http = new Http(this.port);
		http.postJson(ONE, DEPOSIT).expectStatus().isOk();
		this.redis.stop();
		http.postJson(ONE, DEPOSIT)
			.expectStatus()
			.isEqualTo(503)
			.expectHeader()
			.exists("Retry-After")
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:fencing:problem:coordinator-unavailable");
		http.get("/accounts/coordinator-down").expectStatus().isOk().expectBody().jsonPath("$.balance").isEqualTo(1.00);
		this.redis.start();
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> http.postJson(ONE, DEPOSIT)
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.balance")
				.isEqualTo(2.00));
	}

}
