package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.lease.DefaultLeaseManager;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.client.codec.StringCodec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A real Redis that runs a request whose answer gets lost on the way, and one that has no
 * memory left.
 */
@Timeout(60)
class LostAnswerTests {

	private static final LeaseKeys KEYS = new LeaseKeys(RedissonCoordinatorSettings.DEFAULT_KEY_PREFIX);

	private final FencedResource resource = new FencedResourceFactory("lost", null).create("answer");

	private RedisFixture redis;

	private TcpProxy network;

	private RedissonClientHolder clients;

	private DefaultLeaseManager manager;

	@BeforeEach
	void start() {
		this.redis = RedisFixture.started();
		this.network = TcpProxy.start("127.0.0.1", this.redis.getPort());
		this.clients = RedissonClientHolder
			.owning(() -> RedisFixture.newClient(this.network.getPort(), StringCodec.INSTANCE));
		this.clients.get().join();
		this.manager = new DefaultLeaseManager(
				new RedissonLeaseCoordinator(this.clients, RedissonCoordinatorSettings.defaults()),
				new FencingListeners(List.of()), MonotonicClock.SYSTEM, Duration.ofMillis(500));
		// the script is known from here on
		this.manager.release(this.manager.acquire(terms(Duration.ofSeconds(5)), List.of(this.resource)));
	}

	@AfterEach
	void stop() {
		this.manager.close();
		this.clients.close();
		this.network.close();
		this.redis.close();
	}

	@Test
	void case14WhenAnswerToAcquireIsLostThenTheRetryGetsTheSameToken() {
		this.network.swallowReplies();
		CompletableFuture<Lease> acquired = CompletableFuture
			.supplyAsync(() -> this.manager.acquire(terms(Duration.ofSeconds(30)), List.of(this.resource)).get(0));
		await().until(() -> lease() != null);
		String granted = lease();
		assertThat(acquired).isNotDone();
		this.network.pass();
		Lease lease = acquired.join();
		assertThat(lease.getToken().value() + ":" + lease.getToken().owner()).isEqualTo(granted).isEqualTo(lease());
		assertThat(this.redis.console().send("GET " + KEYS.token(this.resource)))
			.isEqualTo(Long.toString(lease.getToken().value()));
		this.manager.release(List.of(lease));
		assertThat(lease()).isNull();
	}

	@Test
	void case14WhenNoAnswerComesWithinTheWaitThenWhatWasGrantedIsGivenBack() {
		this.network.swallowReplies();
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> this.manager.acquire(terms(Duration.ofSeconds(1)), List.of(this.resource)));
		this.network.pass();
		await().until(() -> lease() == null);
		assertThat(this.manager.getHeldCount()).isZero();
	}

	@Test
	void case17WhenRedisHasNoMemoryLeftThenTypedFailureAndNextCallWorksOnceItHas() {
		this.redis.console().send("CONFIG SET maxmemory 1");
		assertThatExceptionOfType(CoordinatorUnavailableException.class)
			.isThrownBy(() -> this.manager.acquire(terms(Duration.ofSeconds(1)), List.of(this.resource)))
			.withMessageContaining("OOM");
		assertThat(this.manager.getHeldCount()).isZero();
		this.redis.console().send("CONFIG SET maxmemory 0");
		assertThat(this.manager.acquire(terms(Duration.ofSeconds(20)), List.of(this.resource))).hasSize(1);
	}

	private String lease() {
		return this.redis.console().send("GET " + KEYS.lease(this.resource));
	}

	private static LeaseTerms terms(Duration wait) {
		return new LeaseTerms("test", Duration.ofSeconds(30), wait, Duration.ofMinutes(15), Duration.ZERO, true);
	}

}
