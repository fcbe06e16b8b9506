package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

import io.fencing.FencedResource;
import io.fencing.testing.RedisConsole;

import static org.awaitility.Awaitility.await;

/**
 * What befalls the Redis that grants leases.
 */
enum RedisFailure {

	SCRIPTS_FLUSHED("the scripts are flushed", Duration.ofSeconds(30)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.master().send("SCRIPT FLUSH");
		}
	},

	LEASE_DELETED("the key of the lease is deleted", Duration.ofSeconds(1)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.master().send("DEL fencing:1:{" + leased.getKey() + "}:lease");
		}
	},

	DATA_FLUSHED("all data is flushed", Duration.ofSeconds(1)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.master().send("FLUSHALL");
		}
	},

	SLOT_MOVED("the slot moves to another master", Duration.ofSeconds(30)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.moveSlot(leased);
		}
	},

	READ_ONLY("the server becomes a replica, and master again", Duration.ofSeconds(30)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.master().send("REPLICAOF 127.0.0.1 1");
		}

		@Override
		void end(RedisTopology redis) {
			redis.master().send("REPLICAOF NO ONE");
		}
	},

	FROZEN("the server is frozen for longer than the lease", Duration.ofSeconds(1)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			inBackground(() -> redis.master().send("DEBUG SLEEP 1.5"));
		}
	},

	RESTARTED_EMPTY("the master crashes and comes back empty", Duration.ofSeconds(1)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			inBackground(() -> redis.master().send("DEBUG CRASH-AND-RECOVER 1000"));
		}
	},

	FAILED_OVER("the master crashes and a replica takes over", Duration.ofSeconds(30)) {
		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			// what the replica does not have by then is lost, as in other rows
			await().atMost(Duration.ofSeconds(60))
				.until(() -> redis.replica().send("DBSIZE").equals(redis.master().send("DBSIZE")));
			redis.failOver();
		}
	},

	FAILED_OVER_BEHIND("the master crashes and a replica takes over that lags behind", Duration.ofSeconds(30)) {
		@Override
		void prepare(RedisTopology redis) {
			RedisConsole master = redis.master();
			master.send("ACL SETUSER default -psync -sync");
			master.send("CLIENT KILL TYPE replica");
		}

		@Override
		void happen(RedisTopology redis, FencedResource leased) {
			redis.failOver();
		}
	};

	private final String text;

	private final Duration leaseTime;

	RedisFailure(String text, Duration leaseTime) {
		this.text = text;
		this.leaseTime = leaseTime;
	}

	/**
	 * Those that can befall a single server.
	 */
	static Set<RedisFailure> ofStandalone() {
		return EnumSet.complementOf(EnumSet.of(SLOT_MOVED, FAILED_OVER, FAILED_OVER_BEHIND));
	}

	/**
	 * Those that can befall servers with a Sentinel.
	 */
	static Set<RedisFailure> ofSentinel() {
		return EnumSet.complementOf(EnumSet.of(SLOT_MOVED));
	}

	/**
	 * Those that can befall a cluster.
	 */
	static Set<RedisFailure> ofCluster() {
		return EnumSet.complementOf(EnumSet.of(READ_ONLY));
	}

	/**
	 * Whether a master is gone for good afterwards.
	 */
	boolean isFinal() {
		return this == FAILED_OVER || this == FAILED_OVER_BEHIND;
	}

	/**
	 * Do what comes before the lease that is at stake.
	 * @param redis the servers
	 */
	void prepare(RedisTopology redis) {
	}

	/**
	 * Let it happen.
	 * @param redis the servers
	 * @param leased a resource that is leased
	 */
	abstract void happen(RedisTopology redis, FencedResource leased);

	/**
	 * End what does not end by itself.
	 * @param redis the servers
	 */
	void end(RedisTopology redis) {
	}

	Duration getLeaseTime() {
		return this.leaseTime;
	}

	private static void inBackground(Supplier<String> command) {
		Thread thread = new Thread(() -> {
			try {
				command.get();
			}
			catch (RuntimeException ex) {
				// the server went away before it answered
			}
		}, "redis-failure");
		thread.setDaemon(true);
		thread.start();
		// the server has taken it by then
		await().pollDelay(Duration.ofMillis(100)).until(() -> true);
	}

	@Override
	public String toString() {
		return this.text;
	}

}
