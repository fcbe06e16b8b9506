package io.fencing.adversarial;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.fencing.FencedResourceFactory;
import org.redisson.api.RedissonClient;

/**
 * Takes leases away behind the back of whoever holds them, as a failover to an old
 * replica does.
 */
final class LeaseDropper implements Runnable {

	private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

	// enough of them live for as long as an attempt takes
	private static final int ONE_IN = 3;

	private final RedissonClient redis;

	private final List<String> leases;

	private final Random random;

	private final BooleanSupplier goOn;

	private long dropped;

	LeaseDropper(RedissonClient redis, String namespace, List<String> resources, long seed, BooleanSupplier goOn) {
		this.redis = redis;
		FencedResourceFactory factory = new FencedResourceFactory(namespace, null);
		this.leases = resources.stream()
			.map((resource) -> "fencing:1:{" + factory.create(resource).getKey() + "}:lease")
			.toList();
		this.random = new Random(seed);
		this.goOn = goOn;
	}

	@Override
	public void run() {
		while (this.goOn.getAsBoolean()) {
			LockSupport.parkNanos((long) (this.random.nextDouble() * LONGEST_PAUSE_NANOS));
			for (String lease : this.leases) {
				if (this.random.nextInt(ONE_IN) == 0) {
					this.dropped += this.redis.getKeys().delete(lease);
				}
			}
		}
	}

	/**
	 * How many leases were taken away, once it has ended.
	 */
	long getDropped() {
		return this.dropped;
	}

}
