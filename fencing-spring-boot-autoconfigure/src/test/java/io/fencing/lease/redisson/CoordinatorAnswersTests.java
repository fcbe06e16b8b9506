package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseCoordinator.Renewals;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.config.Config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Whatever a server answers, only the right answer to the very question is one: nothing
 * else grants, renews or gives back, all of it is told with a reason within the wait, and
 * the same client goes on when the server is well again (cases 12, 14, 17, 53).
 */
@Timeout(30)
class CoordinatorAnswersTests {

	private static final Duration TIMEOUT = Duration.ofMillis(700);

	private static final Duration WAIT = Duration.ofMillis(150);

	// one of each for all tests: each leaves them well
	private static FakeRedis redis;

	private static RedissonClientHolder clients;

	private final LeaseCoordinator coordinator = new RedissonLeaseCoordinator(clients,
			RedissonCoordinatorSettings.defaults());

	private final DefaultLeaseManager manager = new DefaultLeaseManager(this.coordinator,
			new FencingListeners(List.of()), MonotonicClock.SYSTEM, TIMEOUT);

	private final FencedResource resource = new FencedResourceFactory("answers", null).create("r");

	private final FencedResource other = new FencedResourceFactory("answers", null).create("other");

	@BeforeAll
	static void startRedis() {
		redis = new FakeRedis();
		clients = RedissonClientHolder.owning(() -> {
			Config config = new Config();
			// as long as in production: where Redisson waits for less, a busy machine is
			// enough to fail a request
			RedissonPatience.limit(config.useSingleServer())
				.setAddress("redis://127.0.0.1:" + redis.getPort())
				.setConnectionMinimumIdleSize(1)
				.setConnectionPoolSize(4)
				.setSubscriptionConnectionMinimumIdleSize(0);
			return Redisson.create(config);
		});
		clients.get().join();
	}

	@AfterAll
	static void stopRedis() {
		clients.close();
		redis.close();
	}

	@AfterEach
	void close() {
		this.manager.close();
		redis.beWell();
	}

	static Stream<Fault> faults() {
		return Stream
			.of(new Fault("nil", (well) -> "$-1\r\n", "not understood"),
					new Fault("nil array", (well) -> "*-1\r\n", "not understood"),
					new Fault("empty array", (well) -> "*0\r\n", "not understood"),
					new Fault("number", (well) -> ":1\r\n", "not understood"),
					new Fault("text", (well) -> "+OK\r\n", "not understood"),
					new Fault("right answer without its ticket", (well) -> "*2\r\n:1\r\n$4\r\n5000\r\n",
							"not understood"),
					error("LOADING Redis is loading the dataset in memory", "LOADING"),
					error("READONLY You can't write against a read only replica.", "READONLY"),
					error("OOM command not allowed when used memory > 'maxmemory'.", "OOM"),
					error("NOPERM this user has no permissions to run the 'evalsha' command", "NOPERM"),
					error("NOAUTH Authentication required.", "NOAUTH"),
					error("WRONGTYPE Operation against a key holding the wrong kind of value", "WRONGTYPE"),
					error("ERR Error running script: @user_script:5: WRONGTYPE Operation", "WRONGTYPE"),
					error("MOVED 1 127.0.0.1:1", "points to"), error("NOSCRIPT No matching script.", "NOSCRIPT"),
					error("BUSY Redis is busy running a script.", "BUSY"), error("MASTERDOWN Link with MASTER is down",
							"MASTERDOWN"),
					error("CLUSTERDOWN Hash slot not served", "CLUSTERDOWN"), error("TRYAGAIN later", "TRYAGAIN"),
					error("ERR anything", "ERR"), new Fault("garbage", (well) -> "?!\r\n", "not answer as Redis"),
					new Fault("cut short", (well) -> well.substring(0, well.length() / 2) + FakeRedis.HANG_UP,
							"no answer"),
					new Fault("hung up", (well) -> FakeRedis.HANG_UP, "no answer"));
	}

	private static Fault error(String text, String reason) {
		return new Fault(text, (well) -> "-" + text + "\r\n", reason);
	}

	@ParameterizedTest
	@MethodSource("faults")
	void whenAnswerIsNoneThenNothingIsGrantedRenewedOrGivenBackAndLaterAllIs(Fault fault) {
		Lease held = eventually(() -> acquire(this.other, "held"));
		redis.answer(fault.answer());
		assertThatUnavailable(() -> acquire(this.resource, "me"), fault.reason());
		assertThatUnavailable(() -> this.coordinator.renew(List.of(held), TIMEOUT), fault.reason());
		assertThatUnavailable(() -> this.coordinator.release(held, Duration.ZERO, TIMEOUT), fault.reason());
		redis.getScripts().clear();
		LeaseTerms terms = new LeaseTerms("test", Duration.ofMillis(90), WAIT, Duration.ofMinutes(1), Duration.ZERO,
				true);
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> this.manager.acquire(terms, List.of(this.resource)));
		assertThat(this.manager.getHeldCount()).isZero();
		assertThat(redis.getScripts()).as("a renewal").doesNotContain("renew");
		redis.beWell();
		assertWell(held);
	}

	@Test
	void case14WhenAnswersAreLateThenTheyAnswerNothingElse() {
		Lease held = eventually(() -> acquire(this.other, "held"));
		CountDownLatch late = new CountDownLatch(1);
		redis.answer((well) -> {
			awaitLatch(late);
			return well;
		});
		assertThatUnavailable(() -> this.coordinator.tryAcquire(request(this.resource, "me"), WAIT), "no answer");
		assertThatUnavailable(() -> this.coordinator.renew(List.of(held), WAIT), "no answer");
		assertThatUnavailable(() -> this.coordinator.release(held, Duration.ZERO, WAIT), "no answer");
		late.countDown();
		redis.beWell();
		assertWell(held);
	}

	// each question gets the answer to the one before it
	@Test
	void whenAnswersAreShiftedThenNoneCounts() {
		Lease held = eventually(() -> acquire(this.other, "held"));
		shift(FakeRedis.bulk("1000001"));
		assertThatUnavailable(() -> acquire(this.resource, "me"), "not understood");
		assertThatUnavailable(() -> acquire(this.resource, "me"), "another question");
		assertWell(held);
		String ticket = FakeRedis.bulk(ScriptReply.newTicket());
		shift(ticket);
		assertThatUnavailable(() -> this.coordinator.renew(List.of(held), TIMEOUT), "another question");
		shift(ticket);
		assertThatUnavailable(() -> this.coordinator.release(held, Duration.ZERO, TIMEOUT), "another question");
		assertWell(held);
	}

	private static void shift(String lastPart) {
		// the client may have been created anew
		clients.get().join();
		redis.shift("*2\r\n:1\r\n" + lastPart);
	}

	private void assertWell(Lease held) {
		assertThat(eventually(() -> acquire(this.resource, "me")).isLost()).isFalse();
		assertThat(eventually(() -> this.coordinator.renew(List.of(held), TIMEOUT)))
			.isEqualTo(new Renewals(Set.of(held), Set.of()));
		assertThat(eventually(() -> this.coordinator.release(held, Duration.ZERO, TIMEOUT))).isTrue();
	}

	private static <T> T eventually(Supplier<T> call) {
		return await().pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptionsInstanceOf(CoordinatorUnavailableException.class)
			.until(call::get, (answer) -> true);
	}

	private Lease acquire(FencedResource resource, String owner) {
		LeaseRequest request = request(resource, owner);
		long sentAt = System.nanoTime();
		Granted granted = (Granted) this.coordinator.tryAcquire(request, TIMEOUT);
		return new Lease(request, granted.token(), sentAt, MonotonicClock.SYSTEM);
	}

	private static LeaseRequest request(FencedResource resource, String owner) {
		return new LeaseRequest("test", resource, owner, Duration.ofSeconds(30));
	}

	private static void assertThatUnavailable(Runnable call, String reason) {
		assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(call::run)
			.withMessageContaining(reason);
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A way to answer wrongly.
	 *
	 * @param name what it is called
	 * @param answer makes the reply out of the right one
	 * @param reason what the exception says
	 */
	private record Fault(String name, UnaryOperator<String> answer, String reason) {

		@Override
		public String toString() {
			return this.name;
		}

	}

}
