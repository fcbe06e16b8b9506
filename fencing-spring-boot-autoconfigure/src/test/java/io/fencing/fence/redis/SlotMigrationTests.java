package io.fencing.fence.redis;

import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;

import io.fencing.LeaseLostException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedRedis.Held;
import io.fencing.testing.RedisClusterServers;
import io.fencing.testing.SlotMigration;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisPipelineException;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Operations on keys whose slot is moving from one master to another. Guard and data move
 * one after the other: a command runs only where both are, and waits for that.
 */
class SlotMigrationTests {

	private static FencedRedis cluster;

	private static FencedRedis cluster7;

	@BeforeAll
	static void connect() {
		cluster = Topology.CLUSTER.connect();
		cluster7 = Topology.CLUSTER_7.connect();
	}

	@AfterAll
	static void disconnect() {
		cluster.close();
		cluster7.close();
	}

	static Stream<Arguments> places() {
		return Stream.of(false, true)
			.flatMap((redis7) -> Stream.of(Place.values())
				.flatMap((guard) -> Stream.of(Place.values()).map((data) -> Arguments.of(redis7, guard, data))));
	}

	// rules 3 and 4: without its data a guard must not answer, nor data without its guard
	@ParameterizedTest
	@MethodSource("places")
	void rule4WhenGuardAndDataMoveThenCommandsRunWhereBothAre(boolean redis7, Place guard, Place data)
			throws Exception {
		FencedRedis cluster = redis7 ? cluster7 : SlotMigrationTests.cluster;
		String slot = "{moving:" + guard + ":" + data + "}";
		String read = (data != Place.NOWHERE) ? "7" : null;
		Worker older = new Worker(cluster, slot + "older", guard, data);
		Worker newer = new Worker(cluster, slot + "newer", guard, data);
		Worker newest = new Worker(cluster, slot + "newest", guard, data);
		FutureTask<?> refused;
		FutureTask<Long> incremented;
		FutureTask<String> claimed;
		try (SlotMigration migration = SlotMigration.begin(servers(redis7), slot)) {
			older.move(migration);
			newer.move(migration);
			newest.move(migration);
			boolean together = guard == data && guard != Place.NOWHERE;
			long before = tryAgain(migration.source()) + tryAgain(migration.target());
			refused = start(() -> older.run(older.first, () -> older.setIf(read)));
			incremented = start(
					() -> newer.run(newer.second, () -> cluster.template().opsForValue().increment(newer.key)));
			claimed = start(() -> newest.run(newest.third, () -> cluster.template().opsForValue().get(newest.key)));
			if (together) {
				await().until(() -> refused.isDone() && incremented.isDone() && claimed.isDone());
			}
			else {
				await().until(() -> tryAgain(migration.source()) + tryAgain(migration.target()) >= before + 6);
				assertThat(refused.isDone() || incremented.isDone() || claimed.isDone()).isFalse();
			}
		}
		if (guard == Place.NOWHERE) {
			assertThat(refused.get()).isEqualTo(true);
		}
		else {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(refused::get)
				.havingCause()
				.isInstanceOfSatisfying(StaleTokenException.class,
						(ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.STALE));
		}
		assertThat(cluster.plain().opsForValue().get(older.key)).isEqualTo((guard == Place.NOWHERE) ? "older" : read);
		assertThat(incremented.get()).isEqualTo((read != null) ? 8 : 1);
		assertThat(cluster.plain().opsForValue().get(newer.key)).isEqualTo((read != null) ? "8" : "1");
		assertThat(claimed.get()).isEqualTo(read);
	}

	@Test
	void whenSeveralKeysAreSplitThenCommandWaitsForAllOfThem() throws Exception {
		String slot = "{several}";
		cluster.plain().opsForValue().multiSet(Map.of(slot + "a", "1", slot + "b", "2"));
		RedisScript<Long> sum = RedisScript.of("return redis.call('GET', KEYS[1]) + redis.call('GET', KEYS[2])",
				Long.class);
		Held held = FencedRedis.next("several");
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> cluster.template().opsForValue().get(slot + "a"));
		FutureTask<Long> summed;
		FutureTask<Long> deleted;
		try (SlotMigration migration = SlotMigration.begin(RedisClusterServers.shared(), slot)) {
			migration.move(Topology.CLUSTER.guard(held, slot));
			migration.move(slot + "a");
			long before = tryAgain(migration.target());
			summed = start(() -> FencedRedis.in(context,
					() -> cluster.template().execute(sum, List.of(slot + "a", slot + "b"))));
			await().until(() -> tryAgain(migration.target()) >= before + 2);
		}
		assertThat(summed.get()).isEqualTo(3);
		try (SlotMigration migration = SlotMigration.begin(RedisClusterServers.shared(), slot)) {
			migration.move(slot + "a");
			long before = tryAgain(migration.source()) + tryAgain(migration.target());
			deleted = start(
					() -> FencedRedis.in(context, () -> cluster.template().delete(List.of(slot + "a", slot + "b"))));
			await().until(() -> tryAgain(migration.source()) + tryAgain(migration.target()) >= before + 2);
		}
		assertThat(deleted.get()).isEqualTo(2);
	}

	@Test
	void whenLeaseIsLostWhileCommandWaitsThenItIsNotSentAgain() throws Exception {
		String key = "waiting";
		Held held = FencedRedis.next(key);
		OperationContext context = FencedRedis.operation(held);
		cluster.plain().opsForValue().set(key, "7");
		try (SlotMigration migration = SlotMigration.begin(RedisClusterServers.shared(), key)) {
			long before = tryAgain(migration.target());
			FutureTask<?> waiting = start(
					() -> FencedRedis.in(context, () -> cluster.template().opsForValue().increment(key)));
			await().until(() -> tryAgain(migration.target()) > before);
			held.lose();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiting::get)
				.withCauseInstanceOf(LeaseLostException.class);
		}
		assertThat(cluster.plain().opsForValue().get(key)).isEqualTo("7");
	}

	// nobody waits in a pipeline: those after it have been sent
	@Test
	void whenPipelinedThenErrorOfTheServerReachesTheCaller() throws Exception {
		String key = "pipelined";
		cluster.plain().opsForValue().set(key, "7");
		try (SlotMigration migration = SlotMigration.begin(RedisClusterServers.shared(), key)) {
			FencedRedis.in(FencedRedis.operation(FencedRedis.next(key)),
					() -> assertThatExceptionOfType(RedisPipelineException.class)
						.isThrownBy(() -> cluster.template().executePipelined((RedisCallback<?>) (connection) -> {
							connection.stringCommands().incr(key.getBytes());
							return null;
						}))
						.havingRootCause()
						.withMessageStartingWith("TRYAGAIN"));
		}
		assertThat(cluster.plain().opsForValue().get(key)).isEqualTo("7");
	}

	@Test
	void whenSlotHasMovedWhileOperationRunsThenCommandsFollowIt() throws Exception {
		String key = "followed";
		Held held = FencedRedis.next(key);
		OperationContext context = FencedRedis.operation(held);
		FencedRedis.in(context, () -> cluster.template().opsForValue().increment(key));
		SlotMigration.begin(RedisClusterServers.shared(), key).close();
		assertThat(FencedRedis.in(context, () -> cluster.template().opsForValue().increment(key))).isEqualTo(2);
		assertThatExceptionOfType(StaleTokenException.class)
			.isThrownBy(() -> FencedRedis.in(FencedRedis.operation(FencedRedis.of(key, held.token().value() - 1)),
					() -> cluster.template().opsForValue().increment(key)));
	}

	@Test
	void whenNoNodeHasTheSlotThenCallerIsToldAsWithoutFence() throws Exception {
		String key = "unserved";
		int slot = SlotHash.getSlot(key);
		RedisClusterServers servers = RedisClusterServers.shared();
		RedisCommands<?, ?> owner = servers.node(servers.masterOf(slot));
		OperationContext later = FencedRedis.operation(FencedRedis.next(key));
		FencedRedis.in(later, () -> cluster.template().opsForValue().increment(key));
		owner.clusterDelSlots(slot);
		try {
			String plain = ServerErrorTests.failure(() -> cluster.plain().opsForValue().increment(key));
			assertThat(plain).endsWith(":CLUSTERDOWN");
			for (OperationContext context : List.of(later, FencedRedis.operation(FencedRedis.next(key)))) {
				assertThat(ServerErrorTests
					.failure(() -> FencedRedis.in(context, () -> cluster.template().opsForValue().increment(key))))
					.isEqualTo(plain);
			}
		}
		finally {
			owner.clusterAddSlots(slot);
		}
		await().ignoreExceptionsInstanceOf(DataAccessException.class)
			.until(() -> FencedRedis.in(later, () -> cluster.template().opsForValue().increment(key)) == 2);
	}

	private static RedisClusterServers servers(boolean redis7) {
		return (redis7 ? Topology.CLUSTER_7 : Topology.CLUSTER).clusterServers();
	}

	private static long tryAgain(RedisCommands<?, ?> node) {
		return node.info("errorstats")
			.lines()
			.filter((line) -> line.startsWith("errorstat_TRYAGAIN:count="))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
			.sum();
	}

	private static <T> FutureTask<T> start(Callable<T> work) {
		FutureTask<T> task = new FutureTask<>(work);
		Thread thread = new Thread(task, "worker");
		thread.setDaemon(true);
		thread.start();
		return task;
	}

	/** Where a key is while its slot moves. */
	enum Place {

		NOWHERE, SOURCE, TARGET

	}

	/** A key with three holders of its resource, of which the second one has claimed. */
	private static final class Worker {

		private final FencedRedis cluster;

		private final String key;

		private final Place guard;

		private final Place data;

		private final Held first;

		private final Held second;

		private final Held third;

		private final OperationContext claimed;

		Worker(FencedRedis cluster, String key, Place guard, Place data) throws Exception {
			this.cluster = cluster;
			this.key = key;
			this.guard = guard;
			this.data = data;
			this.first = FencedRedis.next(key);
			this.second = FencedRedis.next(key);
			this.third = FencedRedis.next(key);
			this.claimed = FencedRedis.operation(this.second);
			if (guard != Place.NOWHERE) {
				FencedRedis.in(this.claimed, () -> cluster.template().opsForValue().get(key));
			}
			if (data != Place.NOWHERE) {
				cluster.plain().opsForValue().set(key, "7");
			}
		}

		void move(SlotMigration migration) {
			if (this.guard == Place.TARGET) {
				migration.move(Topology.CLUSTER.guard(this.second, this.key));
			}
			if (this.data == Place.TARGET) {
				migration.move(this.key);
			}
		}

		<T> T run(Held held, Callable<T> work) throws Exception {
			return FencedRedis.in((held == this.second) ? this.claimed : FencedRedis.operation(held), work);
		}

		boolean setIf(String read) {
			assertThat(this.cluster.template().opsForValue().get(this.key)).isEqualTo(read);
			this.cluster.template().opsForValue().set(this.key, "older");
			return true;
		}

	}

}
