package io.fencing.lease.redisson;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseCoordinatorContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import static org.awaitility.Awaitility.await;

/**
 * The coordinator on Redis keeps the contract on a real server.
 */
class RedissonLeaseCoordinatorContractTests extends LeaseCoordinatorContractTests {

	private static RedisFixture redis;

	@BeforeAll
	static void startRedis() {
		redis = RedisFixture.started();
	}

	@AfterAll
	static void stopRedis() {
		redis.close();
	}

	static RedisFixture redis() {
		return redis;
	}

	@Override
	protected LeaseCoordinator coordinator() {
		return redis.coordinator();
	}

	@Override
	protected void elapse(Duration time) {
		await().pollDelay(time).until(() -> true);
	}

	@Override
	protected void loseAllData() {
		redis.console().send("FLUSHALL");
	}

	@Override
	protected void loseToken(FencedResource resource) {
		redis.console().send("DEL " + new LeaseKeys("fencing").token(resource));
	}

}
