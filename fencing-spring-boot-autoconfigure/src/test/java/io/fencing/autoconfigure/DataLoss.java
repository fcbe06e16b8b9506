package io.fencing.autoconfigure;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.testing.RedisConsole;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How the Redis that grants leases goes back: it loses leases and tokens, or its clock is
 * set back, or both.
 */
enum DataLoss {

	DATA_FLUSHED(Duration.ZERO) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			redis.send("FLUSHALL");
		}
	},

	KEYS_DELETED(Duration.ZERO) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			redis.send("DEL " + key(resource, "lease") + " " + key(resource, "token"));
		}
	},

	OLD_SNAPSHOT_LOADED(Duration.ZERO) {
		@Override
		void prepare(RedisConsole redis) {
			redis.send("SAVE");
		}

		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			try {
				redis.send("DEBUG RESTART");
			}
			catch (RuntimeException ex) {
				// it went away before it answered
			}
			await().ignoreExceptions().until(() -> isLost(redis, resource));
		}
	},

	ALL_KEYS_EVICTED(Duration.ZERO) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			evict(redis, "allkeys-lru", resource);
		}
	},

	EXPIRING_KEYS_EVICTED(Duration.ZERO) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			evict(redis, "volatile-ttl", resource);
		}
	},

	CLOCK_AN_HOUR_BACK(Duration.ofHours(1)) {
		@Override
		boolean losesData() {
			return false;
		}
	},

	CLOCK_EIGHT_DAYS_BACK(Duration.ofDays(8)) {
		@Override
		boolean losesData() {
			return false;
		}
	},

	CLOCK_AN_HOUR_BACK_AND_FLUSHED(Duration.ofHours(1)) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			redis.send("FLUSHALL");
		}
	},

	// case 95
	CLOCK_EIGHT_DAYS_BACK_AND_FLUSHED(Duration.ofDays(8)) {
		@Override
		void happen(RedisConsole redis, FencedResource resource) {
			redis.send("FLUSHALL");
		}
	};

	private final Duration setBack;

	DataLoss(Duration setBack) {
		this.setBack = setBack;
	}

	/**
	 * Do what comes before what is lost.
	 * @param redis the server
	 */
	void prepare(RedisConsole redis) {
	}

	/**
	 * Lose what is lost.
	 * @param redis the server
	 * @param resource the resource whose lease and token are lost
	 */
	void happen(RedisConsole redis, FencedResource resource) {
	}

	boolean losesData() {
		return true;
	}

	/**
	 * How far the clock is behind from then on.
	 */
	Duration getSetBack() {
		return this.setBack;
	}

	/**
	 * Whether tokens of a resource that storages know come out too low.
	 */
	boolean goesBack() {
		return losesData() && !this.setBack.isZero();
	}

	/**
	 * Whether tokens of a new resource come out older than storages remember.
	 */
	boolean makesNewTokensTooOld() {
		return this.setBack.compareTo(Duration.ofDays(7)) > 0;
	}

	private static String key(FencedResource resource, String kind) {
		return "fencing:1:{" + resource.getKey() + "}:" + kind;
	}

	private static boolean isLost(RedisConsole redis, FencedResource resource) {
		return redis.send("EXISTS " + key(resource, "lease")).equals("0");
	}

	private static void evict(RedisConsole redis, String policy, FencedResource resource) {
		redis.send("CONFIG SET maxmemory-policy " + policy);
		redis.send("CONFIG SET maxmemory 2mb");
		String large = "x".repeat(10_000);
		for (int i = 0; !redis.send("EXISTS " + key(resource, "lease") + " " + key(resource, "token"))
			.equals("0"); i++) {
			try {
				redis.send("SET other" + i + " " + large);
			}
			catch (IllegalStateException ex) {
				assertThat(ex).as("no key is left that may be evicted").hasMessageStartingWith("-OOM");
			}
		}
		redis.send("CONFIG SET maxmemory 0");
		redis.send("FLUSHALL");
	}

}
