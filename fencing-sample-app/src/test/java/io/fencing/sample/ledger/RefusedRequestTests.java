package io.fencing.sample.ledger;

import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

/**
 * Requests that are refused for what they are, before anything is leased.
 */
@SampleTest
class RefusedRequestTests {

	@LocalServerPort
	private int port;

	private Http http;

	@BeforeEach
	void connect() {
		this.http = new Http(this.port);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', textBlock = """
			{}                           , amount-missing
			{"amount": null}             , amount-missing
			{"amount": 0}                , amount-not-positive
			{"amount": -0.01}            , amount-not-positive
			{"amount": 0.001}            , amount-too-precise
			{"amount": 10.000}           , amount-too-precise
			{"amount": 100000000000000000}, amount-too-large
			{"amount": 1E1000000000}     , amount-too-large
			""")
	void whenAmountIsImpossibleThenUnprocessableWithReason(String json, String reason) {
		refused(this.http.postJson(json, "/accounts/x/deposits"), reason);
		refused(this.http.postJson(json, "/accounts/x/withdrawals"), reason);
		String transfer = json.replaceFirst("\\{", "{\"from\": \"x\", \"to\": \"y\"" + (json.equals("{}") ? "" : ","));
		refused(this.http.postJson(transfer, "/transfers"), reason);
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '`', delimiter = '|', textBlock = """
			{"from": "x", "amount": 1}             | account-invalid
			{"to": "x", "amount": 1}               | account-invalid
			{"from": "x", "to": "x", "amount": 1}  | same-account
			{"from": "x", "to": "a b", "amount": 1}| account-invalid
			""")
	void whenAccountsOfTransferAreImpossibleThenUnprocessableWithReason(String json, String reason) {
		refused(this.http.postJson(json, "/transfers"), reason);
	}

	@Test
	void whenAccountNameIsImpossibleThenUnprocessableWithReason() {
		refused(this.http.postJson("{\"amount\": 1}", "/accounts/{id}/deposits", "x".repeat(65)), "account-invalid");
		refused(this.http.postJson("{\"amount\": 1}", "/accounts/{id}/deposits", "a b"), "account-invalid");
	}

	@Test
	void whenAccountIsUnknownThenNotFound() {
		this.http.get("/accounts/{id}", "nobody")
			.expectStatus()
			.isNotFound()
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:fencing:problem:unknown-account");
	}

	@Test
	void whenBodyIsNotJsonThenBadRequest() {
		this.http.postJson("{", "/accounts/x/deposits").expectStatus().isBadRequest();
		this.http.postJson("{\"amount\": \"ten\"}", "/accounts/x/deposits").expectStatus().isBadRequest();
	}

	private static void refused(RestTestClient.ResponseSpec response, String reason) {
		response.expectStatus()
			.isEqualTo(422)
			.expectHeader()
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:fencing:problem:refused-movement")
			.jsonPath("$.reason")
			.isEqualTo(reason)
			.jsonPath("$.detail")
			.isNotEmpty();
	}

}
