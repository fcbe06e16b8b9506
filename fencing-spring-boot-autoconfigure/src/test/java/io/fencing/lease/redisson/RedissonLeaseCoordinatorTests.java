package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.lease.CoordinatorInvariants;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.codec.SerializationCodec;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What is special about Redis and Redisson: bytes, scripts, time-outs, the lazy client.
 */
@Timeout(60)
class RedissonLeaseCoordinatorTests {

	private static final Duration TIMEOUT = CoordinatorInvariants.TIMEOUT;

	private static final Duration SHORT = Duration.ofMillis(200);

	private static final LeaseKeys KEYS = new LeaseKeys(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX);

	private static RedisFixture redis;

	private final LeaseCoordinator coordinator = redis.coordinator();

	private FencedResource resource;

	@BeforeAll
	static void startRedis() {
		redis = RedisFixture.started();
	}

	@AfterAll
	static void stopRedis() {
		redis.close();
	}

	@BeforeEach
	void nameResource(TestInfo test) {
		this.resource = new FencedResourceFactory("redisson", null).create(test.getDisplayName());
	}

	@Test
	void case56WhenClientHasItsOwnCodecThenKeysAndValuesArePlainText() {
		RedissonClientHolder serializing = RedissonClientHolder.owning(() -> redis.newClient(new SerializationCodec()));
		try {
			LeaseCoordinator other = new RedissonLeaseCoordinator(serializing, RedissonCoordinatorSettings.defaults());
			// connected before the lease begins to run
			other.lift(this.resource, 1, TIMEOUT);
			long token = CoordinatorInvariants.grant(this.coordinator, this.resource, "me");
			String key = "fencing:1:{" + this.resource.getKey() + "}:";
			assertThat(redis.console().send("GET " + key + "lease")).isEqualTo(token + ":me");
			assertThat(redis.console().send("GET " + key + "token")).isEqualTo(Long.toString(token));
			assertThat(CoordinatorInvariants.answer(other, this.resource, "me")).isEqualTo(new Granted(token));
		}
		finally {
			serializing.close();
		}
	}

	@Test
	void rule12WhenGrantedThenLeaseAndTokenBothEnd() {
		RedissonLeaseCoordinator retaining = new RedissonLeaseCoordinator(redis.clients(),
				new RedissonCoordinatorSettings("other:prefix", Duration.ofDays(2), false));
		CoordinatorInvariants.grant(retaining, this.resource, "me");
		LeaseKeys keys = new LeaseKeys("other:prefix");
		assertThat(redis.console().remainingMillis(keys.lease(this.resource))).isBetween(1L,
				CoordinatorInvariants.LEASE.toMillis());
		assertThat(redis.console().remainingMillis(keys.token(this.resource)))
			.isBetween(Duration.ofDays(2).minusMinutes(1).toMillis(), Duration.ofDays(2).toMillis());
		retaining.lift(this.resource, 1, TIMEOUT);
		assertThat(redis.console().remainingMillis(keys.token(this.resource))).isPositive();
	}

	@Test
	void rule12WhenLeaseHasLostItsEndThenItGetsOne() {
		CoordinatorInvariants.grant(this.coordinator, this.resource, "other");
		redis.console().send("PERSIST " + KEYS.lease(this.resource));
		assertThat(CoordinatorInvariants.answer(this.coordinator, this.resource, "me"))
			.isEqualTo(new Busy(CoordinatorInvariants.LEASE));
		await().until(() -> CoordinatorInvariants.answer(this.coordinator, this.resource, "me") instanceof Granted);
	}

	@Test
	void case51WhenScriptsAreFlushedThenNextCallsWork() {
		FencedResource second = new FencedResourceFactory("redisson", null).create("second");
		Lease lease = CoordinatorInvariants.acquire(this.coordinator, this.resource, "me");
		redis.console().send("SCRIPT FLUSH");
		Lease other = CoordinatorInvariants.acquire(this.coordinator, second, "me");
		redis.console().send("SCRIPT FLUSH");
		assertThat(this.coordinator.renew(List.of(lease, other), TIMEOUT).renewed()).containsExactlyInAnyOrder(lease,
				other);
		redis.console().send("SCRIPT FLUSH");
		this.coordinator.lift(second, 1, TIMEOUT);
		redis.console().send("SCRIPT FLUSH");
		assertThat(this.coordinator.release(lease, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(this.coordinator.release(other, Duration.ZERO, TIMEOUT)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "return nil", "return {}", "return 1", "return 'granted'", "return {1}", "return {1, 5}",
			"return {1, ''}", "return {1, '0'}", "return {1, '-5'}", "return {1, '1.8e+15'}", "return {1, ' 5'}",
			"return {1, '9007199254740992'}", "return {1, '99999999999999999999'}", "return {2, '5'}",
			"return {'1', '5'}", "return {0}", "return {0, -1}", "return {0, '5'}", "return {1, '5', 6}",
			"return redis.error_reply('ERR no')", "return {ok = 'OK'}", "return {{1, '5'}}", "error('broken')" })
	void case12WhenReplyIsNotUnderstoodThenNothingIsGranted(String script) {
		LuaScript garbage = ticketed(script);
		LeaseCoordinator broken = redis.coordinator(new LeaseScripts(garbage, garbage, garbage, garbage, garbage));
		assertThatUnavailable(() -> CoordinatorInvariants.answer(broken, this.resource, "me"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "return nil", "return {}", "return 1", "return {2}", "return {'1'}", "return {1, 1}",
			"return redis.error_reply('ERR no')", "error('broken')" })
	void case12WhenReplyIsNotUnderstoodThenNothingIsRenewedReleasedOrLifted(String script) {
		LuaScript garbage = ticketed(script);
		LeaseCoordinator broken = redis.coordinator(new LeaseScripts(garbage, garbage, garbage, garbage, garbage));
		Lease lease = lease("a");
		assertThatUnavailable(() -> broken.renew(List.of(lease), TIMEOUT));
		assertThatUnavailable(() -> broken.renew(List.of(lease, lease("b")), TIMEOUT));
		assertThatUnavailable(() -> broken.release(lease, Duration.ZERO, TIMEOUT));
		assertThatUnavailable(() -> broken.lift(this.resource, 1, TIMEOUT));
	}

	@Test
	void case14WhenRedisAnswersLaterThanTheTimeoutThenItIsNoGrantAndEndsByItself() {
		CoordinatorInvariants.grant(this.coordinator, this.resource, "warm-up");
		await().until(() -> redis.console().send("GET " + KEYS.lease(this.resource)) == null);
		redis.console().send("CLIENT PAUSE 600 ALL");
		assertThatUnavailable(() -> this.coordinator.tryAcquire(request("late"), SHORT));
		await().untilAsserted(() -> {
			String value = redis.console().send("GET " + KEYS.lease(this.resource));
			assertThat(value).as("executed late").isNotNull().endsWith(":late");
		});
		assertThat(redis.console().remainingMillis(KEYS.lease(this.resource))).isBetween(1L,
				CoordinatorInvariants.LEASE.toMillis());
		await().until(() -> redis.console().send("GET " + KEYS.lease(this.resource)) == null);
	}

	@Test
	void case53WhenLeaseKeyHasAnotherTypeThenTypedFailure() {
		redis.console().send("LPUSH " + KEYS.lease(this.resource) + " x");
		assertThatUnavailable(() -> CoordinatorInvariants.answer(this.coordinator, this.resource, "me"));
	}

	@Test
	void case51Case56WhenScriptIsForgottenAndKeysHaveOtherTypesThenAllOthersAreRenewed() {
		FencedResourceFactory resources = new FencedResourceFactory("pipeline", null);
		List<Lease> ours = new ArrayList<>();
		List<Lease> gone = new ArrayList<>();
		for (int i = 0; i < 400; i++) {
			LeaseRequest request = new LeaseRequest("test", resources.create("r" + i), "me", Duration.ofSeconds(30));
			this.coordinator.tryAcquire(request, TIMEOUT);
			((i % 4 == 0) ? gone : ours).add(new Lease(request, 1, System.nanoTime(), System::nanoTime));
		}
		for (Lease lease : gone) {
			redis.console().send("DEL " + KEYS.lease(lease.getResource()));
			redis.console().send("LPUSH " + KEYS.lease(lease.getResource()) + " x");
		}
		redis.console().send("SCRIPT FLUSH");
		List<Lease> all = new ArrayList<>(ours);
		all.addAll(gone);
		LeaseCoordinator.Renewals answers = this.coordinator.renew(all, TIMEOUT);
		assertThat(answers.renewed()).containsExactlyInAnyOrderElementsOf(ours);
		assertThat(answers.refused()).containsExactlyInAnyOrderElementsOf(gone);
	}

	@Test
	void whenPipelineIsFullOfErrorsThenEachIsAskedOnItsOwn() {
		LuaScript half = ticketed("if ARGV[1] == 'bad' then error('broken') end return {1}");
		LeaseCoordinator broken = redis.coordinator(new LeaseScripts(half, half, half, half, half));
		List<Lease> good = new ArrayList<>();
		List<Lease> all = new ArrayList<>();
		for (int i = 0; i < 400; i++) {
			Lease lease = lease((i % 2 == 0) ? "good" : "bad");
			all.add(lease);
			if (i % 2 == 0) {
				good.add(lease);
			}
		}
		assertThat(broken.renew(all, TIMEOUT).renewed()).containsExactlyInAnyOrderElementsOf(good);
	}

	@Test
	void whenTokenKeyHoldsGarbageThenTokensComeFromTheClock() {
		redis.console().send("SET " + KEYS.token(this.resource) + " garbage");
		assertThat(CoordinatorInvariants.grant(this.coordinator, this.resource, "me")).isGreaterThan(1L << 50);
	}

	@Test
	void whenRedisRefusesThenStackTraceShowsTheReasonAndNoKey() {
		String key = new LeaseKeys("fencing").lease(this.resource);
		redis.console().send("SADD " + key + " something");
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> CoordinatorInvariants.answer(this.coordinator, this.resource, "me"))
			.satisfies((failure) -> assertThat(failure).hasStackTraceContaining("WRONGTYPE")
				.hasStackTraceContaining("org.redisson.client.RedisException: ")
				.extracting(Throwables::getStackTrace)
				.asString()
				.doesNotContain(this.resource.getKey()));
	}

	@Test
	void whenTokensAreUsedUpThenTypedFailure() {
		this.coordinator.lift(this.resource, (1L << 53) - 1, TIMEOUT);
		assertThatUnavailable(() -> CoordinatorInvariants.answer(this.coordinator, this.resource, "me"));
	}

	@Test
	void whenClientMapsNamesThenReleasesAreHeardAllTheSame() throws Exception {
		RedissonClientHolder mapping = RedissonClientHolder.owning(() -> {
			Config config = new Config();
			config.setNameMapper(new PrefixMapper());
			config.useSingleServer().setAddress("redis://127.0.0.1:" + redis.getPort());
			return Redisson.create(config);
		});
		try {
			LeaseCoordinator mapped = new RedissonLeaseCoordinator(mapping, RedissonCoordinatorSettings.defaults());
			Lease lease = CoordinatorInvariants.acquire(mapped, this.resource, "me");
			try (LeaseCoordinator.ReleaseSubscription subscription = mapped
				.subscribe(CoordinatorInvariants.request(this.resource, "waiter"))) {
				assertThat(subscription.await(TIMEOUT)).isTrue();
				mapped.release(lease, Duration.ZERO, TIMEOUT);
				assertThat(subscription.await(TIMEOUT)).isTrue();
			}
		}
		finally {
			mapping.close();
		}
	}

	@Test
	void whenSubscriptionsAreClosedThenNoneIsLeft() throws Exception {
		for (int i = 0; i < 20; i++) {
			try (LeaseCoordinator.ReleaseSubscription subscription = this.coordinator
				.subscribe(CoordinatorInvariants.request(this.resource, "waiter"))) {
				subscription.await(TIMEOUT);
			}
			// closed before it listens
			this.coordinator.subscribe(CoordinatorInvariants.request(this.resource, "waiter")).close();
		}
		await().until(() -> redis.console().send("PUBLISH " + KEYS.released(this.resource) + " x").equals("0"));
	}

	@Test
	void whenInterruptedThenAcquireEndsTypedAndReleaseStillWorks() {
		Lease lease = CoordinatorInvariants.acquire(this.coordinator, this.resource, "me");
		Thread.currentThread().interrupt();
		assertThatUnavailable(() -> this.coordinator.tryAcquire(request("me"), TIMEOUT));
		assertThat(this.coordinator.release(lease, Duration.ZERO, TIMEOUT)).isTrue();
		assertThat(Thread.interrupted()).as("flag kept").isTrue();
	}

	@Test
	void case35WhenRedisIsDownThenTypedFailureInTimeAndLaterItWorks() {
		try (RedisFixture late = RedisFixture.stopped()) {
			LeaseCoordinator other = late.coordinator();
			assertThatUnavailable(() -> other.tryAcquire(request("me"), SHORT));
			assertThatUnavailable(() -> other.release(lease("me"), Duration.ZERO, SHORT));
			late.start();
			await().atMost(Duration.ofSeconds(30))
				.ignoreExceptionsInstanceOf(CoordinatorUnavailableException.class)
				.until(() -> other.tryAcquire(request("me"), TIMEOUT) instanceof Granted);
			late.stop();
			assertThatUnavailable(() -> other.tryAcquire(request("me"), SHORT));
			late.start();
			await().atMost(Duration.ofSeconds(30))
				.ignoreExceptionsInstanceOf(CoordinatorUnavailableException.class)
				.until(() -> other.tryAcquire(request("me"), TIMEOUT) instanceof Granted);
		}
	}

	@Test
	void whenClientIsCreatedSlowlyThenEachCallerWaitsNoLongerThanItWantsAndOneCreationRuns() {
		AtomicInteger creations = new AtomicInteger();
		CountDownLatch slow = new CountDownLatch(1);
		RedissonClientHolder holder = RedissonClientHolder.owning(() -> {
			creations.incrementAndGet();
			awaitLatch(slow);
			return redis.newClient(new SerializationCodec());
		});
		try (holder) {
			LeaseCoordinator lazy = new RedissonLeaseCoordinator(holder, RedissonCoordinatorSettings.defaults());
			assertThat(creations).hasValue(0);
			List<CompletableFuture<Void>> callers = IntStream.range(0, 8)
				.mapToObj((i) -> CompletableFuture
					.runAsync(() -> assertThatUnavailable(() -> lazy.tryAcquire(request("me"), SHORT))))
				.toList();
			callers.forEach(CompletableFuture::join);
			assertThat(creations).hasValue(1);
			slow.countDown();
			CoordinatorInvariants.grant(lazy, this.resource, "me");
			assertThat(creations).hasValue(1);
		}
	}

	@Test
	void whenCreationFailsThenNextUseTriesAgain() {
		AtomicInteger creations = new AtomicInteger();
		RedissonClient client = redis.clients().get().join();
		RedissonClientHolder holder = RedissonClientHolder.shared(() -> {
			if (creations.incrementAndGet() < 3) {
				throw new IllegalStateException("not yet");
			}
			return client;
		});
		LeaseCoordinator lazy = new RedissonLeaseCoordinator(holder, RedissonCoordinatorSettings.defaults());
		assertThatUnavailable(() -> lazy.tryAcquire(request("me"), TIMEOUT));
		assertThatUnavailable(() -> lazy.tryAcquire(request("me"), TIMEOUT));
		CoordinatorInvariants.grant(lazy, this.resource, "me");
		holder.close();
		assertThat(client.isShutdown()).as("not ours").isFalse();
		assertThatUnavailable(() -> lazy.tryAcquire(request("me"), TIMEOUT));
	}

	private static LuaScript ticketed(String script) {
		return LuaScript.of("local reply = (function() " + script + " end)() if type(reply) == 'table' and not reply.ok"
				+ " and not reply.err then table.insert(reply, ARGV[#ARGV]) end return reply");
	}

	private LeaseRequest request(String owner) {
		return CoordinatorInvariants.request(this.resource, owner);
	}

	private Lease lease(String owner) {
		return new Lease(request(owner), 1, System.nanoTime(), System::nanoTime);
	}

	private static void assertThatUnavailable(Runnable call) {
		assertThatExceptionOfType(CoordinatorUnavailableException.class).isThrownBy(call::run);
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class PrefixMapper implements NameMapper {

		@Override
		public String map(String name) {
			return "application:" + name;
		}

		@Override
		public String unmap(String name) {
			return name.substring("application:".length());
		}

	}

}
