package io.fencing.sample.ledger;

import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.sample.Http;
import io.fencing.sample.SampleTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Movements on accounts, end to end.
 */
@SampleTest
class LedgerTests {

	private static final String DEPOSIT = "/accounts/{id}/deposits";

	private static final String WITHDRAWAL = "/accounts/{id}/withdrawals";

	// new for each test
	private final String account = "acc-" + UUID.randomUUID();

	@LocalServerPort
	private int port;

	@Autowired
	private FencedOperations operations;

	@Autowired
	private JdbcClient jdbc;

	private Http http;

	@BeforeEach
	void connect() {
		this.http = new Http(this.port);
	}

	@Test
	void whenFirstDepositThenAccountIsOpen() {
		this.http.postJson("{\"amount\": 10.00}", DEPOSIT, this.account)
			.expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.account")
			.isEqualTo(this.account)
			.jsonPath("$.balance")
			.isEqualTo(10.00)
			.jsonPath("$.token")
			.isNumber()
			.jsonPath("$.length()")
			.isEqualTo(3);
		this.http.get("/accounts/{id}", this.account)
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.isEqualTo("{\"account\":\"" + this.account + "\",\"balance\":10.00}");
	}

	@Test
	void whenCalledAgainThenTokenIsHigher() {
		Receipt first = deposit("10.00");
		Receipt second = receipt(this.http.postJson("{\"amount\": 2.5}", WITHDRAWAL, this.account));
		Receipt third = deposit("1");
		assertThat(List.of(first.token(), second.token(), third.token())).doesNotHaveDuplicates().isSorted();
		assertThat(third.balance()).isEqualTo("8.50");
	}

	@Test
	void whenAmountIsBeyondBalanceThenUnprocessableAndNothingChanges() {
		deposit("10.00");
		this.http.postJson("{\"amount\": 10.01}", WITHDRAWAL, this.account)
			.expectStatus()
			.isEqualTo(422)
			.expectBody()
			.jsonPath("$.reason")
			.isEqualTo("insufficient-balance");
		this.http.postJson(transfer(this.account, this.account + "x", "1"), "/transfers").expectStatus().isNotFound();
		assertThat(entries()).isOne();
	}

	@Test
	void whenBalanceWouldBeTooLongThenUnprocessable() {
		deposit("99999999999999999.99");
		this.http.postJson("{\"amount\": 0.01}", DEPOSIT, this.account)
			.expectStatus()
			.isEqualTo(422)
			.expectBody()
			.jsonPath("$.reason")
			.isEqualTo("amount-too-large");
	}

	@Test
	void whenAccountIsUnknownThenWithdrawalAndTransferAreNotFound() {
		this.http.postJson("{\"amount\": 1}", WITHDRAWAL, this.account).expectStatus().isNotFound();
		this.http.postJson(transfer(this.account, this.account + "x", "1"), "/transfers").expectStatus().isNotFound();
	}

	@Test
	void whenTransferredThenBothAccountsChangeUnderTokensOfTheirOwn() {
		String other = this.account + "-other";
		deposit("10.00");
		this.http.postJson("{\"amount\": 1}", DEPOSIT, other).expectStatus().isOk();
		TransferReceipt receipt = this.http.postJson(transfer(this.account, other, "4.00"), "/transfers")
			.expectStatus()
			.isOk()
			.expectBody(TransferReceipt.class)
			.returnResult()
			.getResponseBody();
		assertThat(receipt.from().account()).isEqualTo(this.account);
		assertThat(receipt.from().balance()).isEqualTo("6.00");
		assertThat(receipt.to().account()).isEqualTo(other);
		assertThat(receipt.to().balance()).isEqualTo("5.00");
		assertThat(receipt.from().token()).isPositive();
		assertThat(receipt.to().token()).isPositive();
	}

	@Test
	void whenManyDepositAtOnceThenNoneIsLost() throws Exception {
		deposit("1.00");
		ExecutorService clients = Executors.newFixedThreadPool(8);
		try {
			List<Future<Integer>> statuses = IntStream.range(0, 40)
				.mapToObj((i) -> clients.submit(() -> this.http.postJson("{\"amount\": 1.00}", DEPOSIT, this.account)
					.returnResult()
					.getStatus()
					.value()))
				.toList();
			int acknowledged = 0;
			for (Future<Integer> status : statuses) {
				assertThat(status.get()).isIn(200, 409);
				acknowledged += (status.get() == 200) ? 1 : 0;
			}
			assertThat(this.jdbc.sql("SELECT balance FROM account WHERE id = ?")
				.param(this.account)
				.query(BigDecimal.class)
				.single()).isEqualTo(BigDecimal.valueOf(1 + acknowledged).setScale(2));
			assertThat(entries()).isEqualTo(1 + acknowledged);
		}
		finally {
			clients.shutdownNow();
		}
	}

	@Test
	void whenLeasedToSomebodyElseThenConflictWithRetryAfter() {
		RestTestClient.ResponseSpec response = this.operations.call(
				FencedOperationRequest.of("somebody-else", "account:" + this.account),
				() -> this.http.postJson("{\"amount\": 1.00}", DEPOSIT, this.account));
		assertThat(response).isNotNull();
		response.expectStatus()
			.isEqualTo(409)
			.expectHeader()
			.exists("Retry-After")
			.expectBody()
			.jsonPath("$.type")
			.isEqualTo("urn:fencing:problem:busy")
			.jsonPath("$.retryable")
			.isEqualTo(true);
		this.http.get("/accounts/{id}", this.account).expectStatus().isNotFound();
	}

	private Receipt deposit(String amount) {
		return receipt(this.http.postJson("{\"amount\": " + amount + "}", DEPOSIT, this.account));
	}

	private static Receipt receipt(RestTestClient.ResponseSpec response) {
		return response.expectStatus().isOk().expectBody(Receipt.class).returnResult().getResponseBody();
	}

	private static String transfer(String from, String to, String amount) {
		return "{\"from\": \"" + from + "\", \"to\": \"" + to + "\", \"amount\": " + amount + "}";
	}

	private int entries() {
		return this.jdbc.sql("SELECT count(*) FROM entry WHERE account = ?")
			.param(this.account)
			.query(Integer.class)
			.single();
	}

}
