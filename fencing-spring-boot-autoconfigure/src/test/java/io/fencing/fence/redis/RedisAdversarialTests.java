package io.fencing.fence.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.fencing.FencingException;
import io.fencing.adversarial.FaultsProperties;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.SlotMigration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers that all believe to hold the lease read a counter, pause and write it back plus
 * one, while guards are deleted at random, and in a cluster while slots move: no write
 * that was acknowledged is ever written over by one that did not see it. Without the
 * fence some are.
 *
 * <p>
 * A run takes two seconds; with {@code -Dfencing.faults}, {@code fencing.faults.seconds}.
 * {@code fencing.faults.seed} repeats its decisions.
 */
@Tag("faults")
class RedisAdversarialTests {

	private static final int WORKERS = 8;

	private static final int COUNTERS = 3;

	@ParameterizedTest
	@CsvSource({ "STANDALONE, false", "SENTINEL, false", "CLUSTER, false", "CLUSTER, true", "CLUSTER_7, true" })
	void rules1To4WhenHoldersOverlapAndGuardsAreDeletedThenNoUpdateIsLost(Topology topology, boolean slotsMove)
			throws Exception {
		try (FencedRedis redis = topology.connect()) {
			Run run = new Run(topology, redis, redis.template(), FaultsProperties.time(Duration.ofSeconds(2)));
			run.go(slotsMove);
			assertThat(run.violations()).as(run.toString()).isEmpty();
			assertThat(run.acknowledged).as(run.toString()).hasPositiveValue();
			assertThat(run.refused).as(run.toString()).hasPositiveValue();
			assertThat(run.deleted).as(run.toString()).hasPositiveValue();
		}
	}

	@ParameterizedTest
	@CsvSource({ "STANDALONE", "SENTINEL", "CLUSTER" })
	void whenNotFencedThenUpdatesAreLost(Topology topology) throws Exception {
		try (FencedRedis redis = topology.connect()) {
			Run run = new Run(topology, redis, redis.plain(), Duration.ofSeconds(10));
			run.endsWithFirstViolation = true;
			run.go(false);
			assertThat(run.violations()).as(run.toString()).isNotEmpty();
		}
	}

	/** What is known of the writes to one counter. */
	private static final class Register {

		private final String key;

		private final Map<Long, String> acknowledged = new HashMap<>();

		private final Map<Long, String> unknown = new HashMap<>();

		private final List<String> violations = new ArrayList<>();

		Register(String key) {
			this.key = key;
		}

		// whether nothing is wrong so far
		synchronized boolean acknowledged(long value, String writer) {
			String other = this.acknowledged.put(value, writer);
			if (other != null) {
				this.violations.add(writer + " and " + other + " have both written " + value + " to " + this.key);
			}
			return other == null;
		}

		synchronized void unknown(long value, String writer) {
			this.unknown.put(value, writer);
		}

		synchronized List<String> violations(long last) {
			for (long value = 1; value <= last; value++) {
				if (!this.acknowledged.containsKey(value) && !this.unknown.containsKey(value)) {
					this.violations.add("Nobody has written " + value + " to " + this.key);
				}
			}
			this.acknowledged.keySet()
				.stream()
				.filter((value) -> value > last)
				.forEach((value) -> this.violations.add(value + " was written to " + this.key + ", which is " + last));
			return this.violations;
		}

	}

	/** One run of all workers. */
	private static final class Run {

		private final Topology topology;

		private final FencedRedis redis;

		private final StringRedisTemplate template;

		private final List<Register> registers;

		private final long seed = FaultsProperties.seed();

		private final long end;

		private final AtomicBoolean violated = new AtomicBoolean();

		private final AtomicInteger acknowledged = new AtomicInteger();

		private final AtomicInteger refused = new AtomicInteger();

		private final AtomicInteger failed = new AtomicInteger();

		private final AtomicInteger deleted = new AtomicInteger();

		private final List<String> broken = new CopyOnWriteArrayList<>();

		private final AtomicInteger moved = new AtomicInteger();

		private boolean endsWithFirstViolation;

		Run(Topology topology, FencedRedis redis, StringRedisTemplate template, Duration time) {
			this.topology = topology;
			this.redis = redis;
			this.template = template;
			this.registers = IntStream.range(0, COUNTERS)
				.mapToObj((i) -> new Register(redis.key("counter" + i)))
				.toList();
			this.registers.forEach((register) -> redis.plain().opsForValue().set(register.key, "0"));
			this.end = System.nanoTime() + time.toNanos();
		}

		void go(boolean slotsMove) throws InterruptedException {
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < WORKERS; i++) {
				Random random = new Random(this.seed + i);
				threads.add(new Thread(() -> {
					while (goesOn()) {
						work(random);
					}
				}, "worker-" + i));
			}
			if (slotsMove) {
				threads.add(new Thread(() -> {
					Random random = new Random(this.seed - 1);
					while (goesOn()) {
						move(random);
					}
				}, "mover"));
			}
			threads.forEach((thread) -> {
				thread.setUncaughtExceptionHandler((failed, ex) -> this.broken.add(failed.getName() + ": " + ex));
				thread.start();
			});
			for (Thread thread : threads) {
				thread.join();
			}
			System.out.println(this);
			assertThat(this.broken).as(toString()).isEmpty();
		}

		private boolean goesOn() {
			return System.nanoTime() - this.end < 0 && !(this.endsWithFirstViolation && this.violated.get());
		}

		// one that writes several counters holds them all
		private void work(Random random) {
			List<Register> written = new ArrayList<>();
			written.add(this.registers.get(random.nextInt(COUNTERS)));
			if (random.nextInt(4) == 0) {
				Register other = this.registers.get(random.nextInt(COUNTERS));
				if (other != written.get(0)) {
					written.add(other);
				}
			}
			Held[] held = written.stream().map((register) -> FencedRedis.next(register.key)).toArray(Held[]::new);
			int fault = random.nextInt(20);
			OperationContext context = FencedRedis.operation(held);
			if (fault > 15) {
				pause(random);
			}
			Map<Register, Long> values = new HashMap<>();
			try {
				FencedRedis.in(context, () -> {
					for (Register register : written) {
						values.put(register, 1 + Long.parseLong(this.template.opsForValue().get(register.key)));
					}
					pause(random);
					write(values);
					return true;
				});
				this.acknowledged.incrementAndGet();
				values.forEach((register, value) -> {
					if (!register.acknowledged(value, held[0].getToken().toString())) {
						this.violated.set(true);
					}
				});
			}
			catch (FencingException ex) {
				this.refused.incrementAndGet();
				values.forEach((register, value) -> register.unknown(value, held[0].getToken().toString()));
			}
			catch (DataAccessException ex) {
				this.failed.incrementAndGet();
				values.forEach((register, value) -> register.unknown(value, held[0].getToken().toString()));
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			if (fault == 0) {
				deleteGuard(held[0], written.get(0).key);
			}
		}

		private void deleteGuard(Held held, String key) {
			try {
				this.redis.plain().delete(this.topology.guard(held, key));
				this.deleted.incrementAndGet();
			}
			catch (DataAccessException ex) {
				this.failed.incrementAndGet();
			}
		}

		private void write(Map<Register, Long> values) {
			Map<String, String> texts = new HashMap<>();
			values.forEach((register, value) -> texts.put(register.key, Long.toString(value)));
			if (texts.size() > 1) {
				this.template.opsForValue().multiSet(texts);
			}
			else {
				texts.forEach((key, value) -> this.template.opsForValue().set(key, value));
			}
		}

		private static void pause(Random random) {
			LockSupport.parkNanos(random.nextInt(400_000));
		}

		// the data, the guard or neither first, and not all at once
		private void move(Random random) {
			String key = this.registers.get(random.nextInt(COUNTERS)).key;
			try (SlotMigration migration = SlotMigration.begin(this.topology.clusterServers(), key)) {
				LockSupport.parkNanos(random.nextInt(10_000_000));
				String first = random.nextBoolean() ? key : this.topology.guard(FencedRedis.next(key), key);
				migration.move(first);
				LockSupport.parkNanos(random.nextInt(10_000_000));
			}
			this.moved.incrementAndGet();
		}

		List<String> violations() {
			return this.registers.stream()
				.flatMap((register) -> register
					.violations(Long.parseLong(this.redis.plain().opsForValue().get(register.key)))
					.stream())
				.toList();
		}

		@Override
		public String toString() {
			return this.topology + ", seed " + this.seed + ": acknowledged " + this.acknowledged + ", refused "
					+ this.refused + ", failed " + this.failed + ", guards deleted " + this.deleted + ", slots moved "
					+ this.moved;
		}

	}

}
