package io.fencing.sample.ledger;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.client.EntityExchangeResult;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests with an {@code Idempotency-Key}, end to end: what is made once, what is
 * another request, and what is no key. Case 61.
 */
@SampleTest
class RepeatedRequestTests {

	private static final String ONE = "{\"amount\": 1.00}";

	// new for each test; A, B and C in requests are accounts that begin with it
	private final String prefix = "acc-" + UUID.randomUUID() + "-";

	private final String key = UUID.randomUUID().toString();

	@LocalServerPort
	private int port;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private StringRedisTemplate redis;

	@Autowired
	private PlatformTransactionManager transactionManager;

	private Http http;

	@BeforeEach
	void openAccounts() {
		this.http = new Http(this.port);
		for (String uri : List.of("/accounts/A/deposits", "/accounts/B/deposits")) {
			Http opening = this.http.withHeader("Idempotency-Key", "\"" + UUID.randomUUID() + "\"");
			// the first connection to the coordinator may take longer than the wait
			await().until(() -> post(opening, uri, "{\"amount\": 10.00}").status() == 200);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					/accounts/A/deposits    | {"amount": 1.50}                             | {"amount": 1.5}             | 1
					/accounts/A/withdrawals | {"amount": 1.50}                             | {"note": "", "amount": 15e-1}| 1
					/transfers              | {"from": "A", "to": "B", "amount": 1.50}     | {"amount":1.5,"to":"B","from":"A"}| 2
					""")
	void whenSameRequestComesAgainThenSameAnswerAndOneMovement(String uri, String json, String spelledDifferently,
			int entries) {
		int before = entries();
		Answer first = post(key(), uri, json);
		assertThat(first.status()).isEqualTo(200);
		String balance = this.redis.opsForValue().get(BalanceCache.key(account("A")));
		this.redis.delete(BalanceCache.key(account("A")));
		assertThat(post(key(), uri, json)).isEqualTo(first);
		assertThat(post(key(), uri, spelledDifferently)).isEqualTo(first);
		assertThat(entries()).isEqualTo(before + entries);
		assertThat(this.redis.opsForValue().get(BalanceCache.key(account("A")))).isNotNull().isEqualTo(balance);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					/accounts/A/deposits    | {"amount": 1}                           | /accounts/A/deposits    | {"amount": 2}
					/accounts/A/deposits    | {"amount": 1}                           | /accounts/B/deposits    | {"amount": 1}
					/accounts/A/deposits    | {"amount": 1}                           | /accounts/C/deposits    | {"amount": 1}
					/accounts/A/withdrawals | {"amount": 1}                           | /accounts/A/withdrawals | {"amount": 2}
					/accounts/A/withdrawals | {"amount": 1}                           | /accounts/B/withdrawals | {"amount": 1}
					/transfers              | {"from": "A", "to": "B", "amount": 1}   | /transfers | {"from": "A", "to": "B", "amount": 2}
					/transfers              | {"from": "A", "to": "B", "amount": 1}   | /transfers | {"from": "A", "to": "C", "amount": 1}
					/transfers              | {"from": "A", "to": "B", "amount": 1}   | /transfers | {"from": "B", "to": "A", "amount": 1}
					""")
	void whenKeyWasUsedForAnotherRequestThenUnprocessable(String uri, String json, String otherUri, String otherJson) {
		assertThat(post(key(), uri, json).status()).isEqualTo(200);
		int before = entries();
		send(key(), otherUri, otherJson).expectStatus()
			.isEqualTo(422)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectHeader()
			.exists(HttpHeaders.LINK)
			.expectHeader()
			.doesNotExist(HttpHeaders.RETRY_AFTER)
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:fencing:problem:identity-conflict")
			.jsonPath("$.retryable")
			.isEqualTo(false);
		post(key(), otherUri, otherJson);
		assertThat(entries()).isEqualTo(before);
	}

	@Test
	void whenKindsOfRequestHaveOneKeyThenEachIsMade() {
		int before = entries();
		assertThat(post(key(), "/accounts/A/deposits", ONE).status()).isEqualTo(200);
		assertThat(post(key(), "/accounts/A/withdrawals", ONE).status()).isEqualTo(200);
		assertThat(post(key(), "/transfers", transfer("A", "B")).status()).isEqualTo(200);
		assertThat(entries()).isEqualTo(before + 4);
	}

	@Test
	void whenThereIsNoKeyThenEachRequestIsMade() {
		int before = entries();
		Answer first = post(this.http, "/accounts/A/deposits", ONE);
		assertThat(post(this.http, "/accounts/A/deposits", ONE)).isNotEqualTo(first);
		assertThat(entries()).isEqualTo(before + 2);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					/accounts/A/withdrawals|{"amount": 11}                         |422|insufficient-balance|/accounts/A/deposits   |{"amount": 5}
					/transfers             |{"from": "A", "to": "B", "amount": 11} |422|insufficient-balance|/accounts/A/deposits   |{"amount": 5}
					/accounts/A/deposits   |{"amount": 99999999999999990}          |422|amount-too-large    |/accounts/A/withdrawals|{"amount": 5}
					/accounts/C/withdrawals|{"amount": 1}                          |404|unknown-account     |/accounts/C/deposits   |{"amount": 5}
					/transfers             |{"from": "A", "to": "C", "amount": 1}  |404|unknown-account     |/accounts/C/deposits   |{"amount": 5}
					""")
	void whenRefusedThenRefusedAgainAlthoughItCouldNowBeMade(String uri, String json, int status, String reason,
			String remedyUri, String remedyJson) {
		Answer first = post(key(), uri, json);
		assertThat(first.status()).isEqualTo(status);
		assertThat(first.body()).contains(reason);
		assertThat(post(this.http, remedyUri, remedyJson).status()).isEqualTo(200);
		int before = entries();
		assertThat(post(key(), uri, json)).isEqualTo(first);
		assertThat(entries()).isEqualTo(before);
		assertThat(post(this.http, uri, json).status()).isEqualTo(200);
	}

	@Test
	void whenRequestIsInProgressThenConflictAndAfterwardsItsAnswer() throws Exception {
		int before = entries();
		ExecutorService client = Executors.newSingleThreadExecutor();
		try {
			Future<Answer> first = new TransactionTemplate(this.transactionManager).execute((status) -> {
				this.jdbc.sql("SELECT balance FROM account WHERE id = ? FOR UPDATE")
					.param(account("A"))
					.query()
					.singleValue();
				Future<Answer> held = client.submit(() -> post(key(), "/accounts/A/deposits", ONE));
				await().until(this::isSomebodyWaiting);
				send(key(), "/accounts/A/deposits", ONE).expectStatus()
					.isEqualTo(409)
					.expectHeader()
					.exists(HttpHeaders.RETRY_AFTER)
					.expectBody()
					.jsonPath("$.type")
					.isEqualTo("urn:fencing:problem:busy")
					.jsonPath("$.retryable")
					.isEqualTo(true);
				assertThat(held).isNotDone();
				return held;
			});
			assertThat(first.get().status()).isEqualTo(200);
			assertThat(post(key(), "/accounts/A/deposits", ONE)).isEqualTo(first.get());
			assertThat(entries()).isEqualTo(before + 1);
		}
		finally {
			client.shutdownNow();
		}
	}

	@Test
	void whenManySendOneKeyAtOnceThenOneMovementAndOneAnswer() throws Exception {
		int before = entries();
		ExecutorService clients = Executors.newFixedThreadPool(8);
		try {
			List<Future<Answer>> answers = IntStream.range(0, 8)
				.mapToObj((i) -> clients.submit(() -> await().atMost(Duration.ofSeconds(30))
					.until(() -> post(key(), "/accounts/A/deposits", ONE), (answer) -> answer.status() != 409)))
				.toList();
			for (Future<Answer> answer : answers) {
				assertThat(answer.get()).isEqualTo(answers.get(0).get());
			}
			assertThat(answers.get(0).get().status()).isEqualTo(200);
			assertThat(entries()).isEqualTo(before + 1);
		}
		finally {
			clients.shutdownNow();
		}
	}

	@ParameterizedTest
	@MethodSource("malformedKeys")
	void whenKeyIsMalformedThenBadRequestAndNothingIsDone(List<String> values) {
		int before = entries();
		Http malformed = this.http.withHeader("Idempotency-Key", values.toArray(String[]::new));
		for (String uri : List.of("/accounts/A/deposits", "/accounts/A/withdrawals", "/transfers")) {
			RestTestClient.ResponseSpec response = send(malformed, uri,
					"{\"from\": \"A\", \"to\": \"B\", \"amount\": 1}");
			response.expectStatus()
				.isBadRequest()
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectHeader()
				.exists(HttpHeaders.LINK)
				.expectBody()
				.jsonPath("$.type")
				.isEqualTo("urn:fencing:problem:invalid-idempotency-key");
		}
		assertThat(entries()).isEqualTo(before);
	}

	static List<List<String>> malformedKeys() {
		return List.of(List.of(""), List.of("secret"), List.of("\"secret\"", "\"secret\""),
				List.of("\"" + "x".repeat(256) + "\""));
	}

	@Test
	void whenKeyIsLongAndStrangeThenItIsTaken() {
		String escaped = "\\\" \\\\ #{1 + 1} ${x} '";
		Http strange = this.http.withHeader("Idempotency-Key", "\"" + escaped + "x".repeat(200) + this.key + "\"");
		Answer first = post(strange, "/accounts/A/deposits", ONE);
		assertThat(first.status()).isEqualTo(200);
		assertThat(post(strange, "/accounts/A/deposits", ONE)).isEqualTo(first);
	}

	@Test
	void whenDescriptionIsAskedForThenItIsThere() {
		this.http.get("/idempotency-key.html").expectStatus().isOk().expectHeader().contentType(MediaType.TEXT_HTML);
	}

	private Http key() {
		return this.http.withHeader("Idempotency-Key", "\"" + this.key + "\"");
	}

	private Answer post(Http client, String uri, String json) {
		EntityExchangeResult<String> result = send(client, uri, json).expectBody(String.class).returnResult();
		Answer answer = new Answer(result.getStatus().value(), result.getResponseBody());
		assertThat(answer.body()).doesNotContain(this.key);
		return answer;
	}

	private RestTestClient.ResponseSpec send(Http client, String uri, String json) {
		return client.postJson(json.replaceAll("\"([ABC])\"", "\"" + account("$1") + "\""),
				uri.replaceAll("/([ABC])/", "/" + account("$1") + "/"));
	}

	private String account(String name) {
		return this.prefix + name;
	}

	private static String transfer(String from, String to) {
		return "{\"from\": \"" + from + "\", \"to\": \"" + to + "\", \"amount\": 1.00}";
	}

	private boolean isSomebodyWaiting() {
		return this.jdbc.sql("SELECT count(*) FROM pg_locks WHERE NOT granted").query(Integer.class).single() > 0;
	}

	private int entries() {
		return this.jdbc.sql("SELECT count(*) FROM entry WHERE account LIKE ?")
			.param(this.prefix + "%")
			.query(Integer.class)
			.single();
	}

	private record Answer(int status, String body) {
	}

}
