package io.fencing.adversarial;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import io.fencing.testing.MortalRedis;
import io.fencing.testing.RedisProcess;

/**
 * Lets masters die and data disappear, at moments and in ways that a seed decides.
 */
final class MasterKiller {

	private static final Duration TAKE_OVER = Duration.ofSeconds(8);

	private static final Duration LONGEST_AFTER_SAVE = Duration.ofMillis(300);

	private static final Duration LONGEST_SPLIT = Duration.ofMillis(600);

	private static final Duration LOOK = Duration.ofMillis(20);

	private final MortalRedis redis;

	private final List<String> keys;

	private final Random random;

	private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);

	/**
	 * Create a killer.
	 * @param redis the servers
	 * @param keys the keys whose masters die
	 * @param seed what its decisions follow from
	 */
	MasterKiller(MortalRedis redis, List<String> keys, long seed) {
		this.redis = redis;
		this.keys = keys;
		this.random = new Random(seed);
	}

	/**
	 * Let something happen again and again; in the end all servers run.
	 * @param longestPause the longest time between two faults
	 * @param beforeEach done before each fault
	 * @param goesOn whether another one shall happen
	 */
	void run(Duration longestPause, Runnable beforeEach, BooleanSupplier goesOn) {
		while (goesOn.getAsBoolean()) {
			pause(longestPause);
			beforeEach.run();
			String key = this.keys.get(this.random.nextInt(this.keys.size()));
			Fault fault = Fault.values()[this.random.nextInt(Fault.values().length)];
			RedisProcess master = this.redis.findMaster(key);
			if (master != null) {
				happen(fault, key, master);
				this.counts.merge(fault, 1, Integer::sum);
			}
		}
	}

	private void happen(Fault fault, String key, RedisProcess master) {
		switch (fault) {
			// it may have become a replica at this very moment
			case FLUSH -> MortalRedis.accepts(master, "FLUSHALL");
			case EMPTY_RESTART -> {
				master.kill();
				master.loseData();
				master.start();
			}
			case OLD_RESTART -> {
				master.save();
				pause(LONGEST_AFTER_SAVE);
				master.kill();
				master.start();
			}
			case TAKE_OVER -> {
				master.kill();
				master.loseData();
				RedisProcess next = awaitTakeOver(key);
				if (next != null) {
					this.redis.startAsReplica(master, next);
				}
				else {
					master.start();
				}
			}
			case SPLIT -> {
				master.freeze();
				RedisProcess next = awaitTakeOver(key);
				master.thaw();
				if (next != null) {
					pause(LONGEST_SPLIT);
					this.redis.demote(master, next);
				}
			}
		}
	}

	/**
	 * Wait until another server is the master.
	 * @return the server, {@code null} if there is no replica that can take over
	 */
	private RedisProcess awaitTakeOver(String key) {
		long end = System.nanoTime() + TAKE_OVER.toNanos();
		RedisProcess next = this.redis.findMaster(key);
		while (next == null && System.nanoTime() - end < 0) {
			LockSupport.parkNanos(LOOK.toNanos());
			next = this.redis.findMaster(key);
		}
		return next;
	}

	private void pause(Duration longest) {
		LockSupport.parkNanos((long) (this.random.nextDouble() * longest.toNanos()));
	}

	/**
	 * How often a master was killed.
	 */
	int getKills() {
		return this.counts.entrySet()
			.stream()
			.filter((entry) -> entry.getKey() != Fault.FLUSH && entry.getKey() != Fault.SPLIT)
			.mapToInt(Map.Entry::getValue)
			.sum();
	}

	@Override
	public String toString() {
		return this.counts.entrySet()
			.stream()
			.map((entry) -> entry.getKey().name().toLowerCase().replace('_', ' ') + " " + entry.getValue())
			.collect(Collectors.joining(", "));
	}

	/**
	 * What happens to a master.
	 */
	private enum Fault {

		/** Its data disappears. */
		FLUSH,

		/** It dies and is back at once without data. */
		EMPTY_RESTART,

		/** It dies and is back at once with data of a while ago. */
		OLD_RESTART,

		/** It dies, another takes its place, and it comes back without data. */
		TAKE_OVER,

		/** It hangs, another takes its place, and for a while both are masters. */
		SPLIT

	}

}
