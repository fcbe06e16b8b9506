package io.fencing.autoconfigure;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.fencing.FencedOperation;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationConflictException;
import io.fencing.testing.RedisConsole;
import io.fencing.testing.TestDatabase;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls with an identity that cannot be right leave nothing in the journal, the fence,
 * Redis or the data, and what is there already stays as it was (check 1).
 */
@ParameterizedClass
@EnumSource
class RefusedIdentityTests {

	private static final Map<TestDatabase, ConfigurableApplicationContext> NODES = new EnumMap<>(TestDatabase.class);

	private static final RedisConsole REDIS = new RedisConsole(
			Integer.parseInt(TestServers.redisUrl().replaceFirst(".*:(\\d+).*", "$1")));

	private final ConfigurableApplicationContext node;

	private final JdbcTemplate jdbc;

	private final FencedOperations operations;

	private final String account = UUID.randomUUID().toString();

	private final AtomicInteger ran = new AtomicInteger();

	RefusedIdentityTests(TestDatabase database) {
		this.node = NODES.computeIfAbsent(database, RefusedIdentityTests::start);
		this.jdbc = this.node.getBean(JdbcTemplate.class);
		this.operations = this.node.getBean(FencedOperations.class);
	}

	private static ConfigurableApplicationContext start(TestDatabase database) {
		String url = database.newUrl();
		SpringApplication application = new SpringApplication(LedgerApplication.class, Deposits.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("spring.datasource.url", url, "spring.data.redis.url",
				TestServers.redisUrl(), "fencing.namespace", url, "fencing.jdbc.initialize-schema", "always",
				"spring.main.banner-mode", "off", "spring.flyway.enabled", "false"));
		ConfigurableApplicationContext node = application.run();
		node.getBean(JdbcTemplate.class).execute("CREATE TABLE effect (account VARCHAR(200) NOT NULL)");
		return node;
	}

	@AfterAll
	static void stop() {
		NODES.values().forEach(ConfigurableApplicationContext::close);
		NODES.clear();
	}

	@ParameterizedTest
	@EnumSource
	void whenCallCannotBeRightThenRefusedWithoutATrace(Refused refused) {
		Trace before = trace();
		assertThatThrownBy(() -> refused.call.accept(this)).isInstanceOf(InvalidFencedOperationException.class)
			.satisfies((ex) -> assertThat(((FencingException) ex).isRetryable()).isFalse());
		assertThat(trace()).isEqualTo(before);
		assertThat(before.operations).isEmpty();
		assertThat(this.ran).hasValue(0);
	}

	@Test
	void whenIdentityIsThatOfOtherWorkThenRefusedAndNothingChanges() {
		this.operations.run(request("once").input(1).build(), this::deposit);
		Trace before = trace();
		for (FencedOperationRequest.Builder other : List.of(request("once").input(2), request("once"),
				request("once").input(1).resource("another" + this.account),
				FencedOperationRequest.builder("deposit")
					.resource("another" + this.account)
					.operationId("once" + this.account)
					.resultType(void.class)
					.input(1))) {
			assertThatThrownBy(() -> this.operations.run(other.build(), this::deposit))
				.isInstanceOf(OperationConflictException.class)
				.satisfies((ex) -> assertThat(((FencingException) ex).isRetryable()).isFalse());
		}
		assertThat(trace()).isEqualTo(before);
		assertThat(REDIS.send("EXISTS " + key("another" + this.account, "token"))).isEqualTo("0");
		assertThat(this.ran).hasValue(1);
	}

	// what is found out after the body leaves the attempt, for a retry to see, and
	// nothing of its work
	@Test
	void whenResultCannotBeKeptThenAttemptHasFailedAndNothingIsCommitted() {
		Map<String, Object> results = Map.of("large", "x".repeat(70_000), "thread", Thread.currentThread());
		results.forEach((id, result) -> assertThatThrownBy(
				() -> this.operations.call(request(id).resultType(result.getClass()).build(), () -> {
					deposit();
					return result;
				}))
			.isInstanceOf(InvalidFencedOperationException.class)
			.hasMessageContaining("nothing was committed"));
		assertThat(this.ran).hasValue(2);
		Trace trace = trace();
		assertThat(trace.effects).isZero();
		assertThat(trace.lease).as("lease in Redis").isEqualTo("0");
		assertThat(trace.operations).hasSize(2)
			.allSatisfy((row) -> assertThat(row).containsEntry("state", "FAILED")
				.containsEntry("attempts", 1)
				.containsEntry("result", null));
	}

	@Test
	void whenIdentitiesDifferThenTheyAreNeverTakenForOneAnother() {
		for (String id : List.of("a", "A", "a ", " a", "\u00e4", "a\u0308", "\ud83d\ude00", "\ud83d\ude01", "?")) {
			this.operations.run(request(id).build(), this::deposit);
			this.operations.run(request(id).build(), this::deposit);
		}
		assertThat(this.ran).hasValue(9);
		assertThat(trace().effects).isEqualTo(9);
	}

	private void deposit() {
		this.ran.incrementAndGet();
		this.jdbc.update("INSERT INTO effect VALUES (?)", this.account);
	}

	private FencedOperationRequest.Builder request(String id) {
		return FencedOperationRequest.builder("deposit")
			.resource(this.account)
			.operationId(id + this.account)
			.resultType(void.class);
	}

	private void runWithId(String id) {
		this.operations.run(FencedOperationRequest.builder("deposit")
			.resource(this.account)
			.operationId(id)
			.resultType(void.class)
			.build(), this::deposit);
	}

	private void runInTransaction() {
		new TransactionTemplate(this.node.getBean(PlatformTransactionManager.class)).executeWithoutResult((status) -> {
			deposit();
			this.ran.decrementAndGet();
			this.operations.run(request("inside").build(), this::deposit);
		});
	}

	private Deposits deposits() {
		return this.node.getBean(Deposits.class);
	}

	private Trace trace() {
		return new Trace(this.jdbc.queryForList(
				"SELECT state, attempts, token, owner, OCTET_LENGTH(result) AS result, changed_at FROM fencing_operation "
						+ "WHERE resource_keys LIKE ?",
				"%" + hash(this.account) + "%"),
				this.jdbc.queryForList("SELECT token, owner, claimed_at FROM fencing_fence WHERE resource_key = ?",
						hash(this.account)),
				REDIS.send("EXISTS " + key(this.account, "lease")), REDIS.send("GET " + key(this.account, "token")),
				this.jdbc.queryForObject("SELECT COUNT(*) FROM effect WHERE account = ?", Integer.class, this.account),
				this.jdbc.queryForObject("SELECT COUNT(*) FROM fencing_operation", Integer.class));
	}

	private String hash(String resource) {
		return this.node.getBean(FencedResourceFactory.class).create(resource).getKey();
	}

	private String key(String resource, String kind) {
		return "fencing:1:{" + hash(resource) + "}:" + kind;
	}

	/**
	 * What can be seen from outside.
	 */
	private record Trace(List<Map<String, Object>> operations, List<Map<String, Object>> fence, String lease,
			String token, int effects, int allOperations) {
	}

	/**
	 * A call that cannot be right.
	 */
	private enum Refused {

		BLANK_IDENTITY((test) -> test.runWithId(" \t")),

		EMPTY_IDENTITY((test) -> test.runWithId("")),

		IDENTITY_TOO_LONG((test) -> test.runWithId("x".repeat(256))),

		IDENTITY_WITH_NUL((test) -> test.runWithId("a\0b")),

		IDENTITY_THAT_UTF_8_CANNOT_EXPRESS((test) -> test.runWithId("a\ud800b")),

		NULL_IDENTITY_OF_A_METHOD((test) -> test.deposits().make(test.account, null, test::deposit)),

		BLANK_IDENTITY_OF_A_METHOD((test) -> test.deposits().make(test.account, " ", test::deposit)),

		SEVERAL_IDENTITIES_OF_A_METHOD(
				(test) -> test.deposits().makeEach(test.account, List.of("a", "b"), test::deposit)),

		NO_IDENTITY_OF_A_METHOD((test) -> test.deposits().makeEach(test.account, List.of(), test::deposit)),

		INPUT_THAT_REFERS_TO_ITSELF((test) -> {
			Map<String, Object> input = new HashMap<>();
			input.put("self", input);
			test.operations.run(test.request("self").input(input).build(), test::deposit);
		}),

		INPUT_THAT_IS_NO_DATA(
				(test) -> test.operations.run(test.request("object").input(new Object()).build(), test::deposit)),

		NO_RESULT_TYPE((test) -> test.operations.run(FencedOperationRequest.builder("deposit")
			.resource(test.account)
			.operationId("untyped" + test.account)
			.build(), test::deposit)),

		NO_RESOURCE((test) -> test.operations.run(FencedOperationRequest.builder("deposit")
			.operationId("nowhere" + test.account)
			.resultType(void.class)
			.build(), test::deposit)),

		BLANK_RESOURCE((test) -> test.operations.run(test.request("blank").resource(" ").build(), test::deposit)),

		NULL_RESOURCE_OF_A_METHOD((test) -> test.deposits().make(null, test.account, test::deposit)),

		CALLERS_TRANSACTION(RefusedIdentityTests::runInTransaction),

		CALLERS_TRANSACTION_OF_A_METHOD(
				(test) -> new TransactionTemplate(test.node.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((status) -> test.deposits().make(test.account, test.account, test::deposit)));

		private final Consumer<RefusedIdentityTests> call;

		Refused(Consumer<RefusedIdentityTests> call) {
			this.call = call;
		}

	}

	/**
	 * Annotated methods.
	 */
	static class Deposits {

		@FencedOperation(resource = "#{#account}", name = "make", operationId = "#{#id}", input = "#{#account}")
		void make(String account, String id, Runnable body) {
			body.run();
		}

		@FencedOperation(resource = "#{#account}", name = "makeEach", operationId = "#{#ids}", input = "#{#account}")
		void makeEach(String account, List<String> ids, Runnable body) {
			body.run();
		}

	}

}
