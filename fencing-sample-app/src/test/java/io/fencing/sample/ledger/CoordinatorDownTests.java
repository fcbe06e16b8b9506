package io.fencing.sample.ledger;

import java.time.Duration;
import java.util.UUID;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
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
	void whenCoordinatorIsDownThenUnavailableAndNothingNewIsDoneUntilItIsBack() throws Exception {
		Http http = new Http(this.port);
		Http repeatable = http.withHeader("Idempotency-Key", "\"" + UUID.randomUUID() + "\"");
		String answer = body(repeatable.postJson(ONE, DEPOSIT));
		this.redis.stop();
		// what is recorded needs no lease
		assertThat(body(repeatable.postJson(ONE, DEPOSIT))).isEqualTo(answer);
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

	private static String body(RestTestClient.ResponseSpec response) {
		return response.expectStatus().isOk().expectBody(String.class).returnResult().getResponseBody();
	}

}
