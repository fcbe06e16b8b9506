package io.fencing.fence.redis;

import java.util.List;
import java.util.stream.IntStream;

import io.fencing.context.OperationContext;
import io.fencing.testing.RedisClusterServers;
import io.lettuce.core.KillArgs;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A cluster whose reads go to replicas, of which one is cut off from its master: reads of
 * an operation see the master, others do not (case 71).
 */
class ReplicaReadTests {

	private final RedisClusterServers servers = RedisClusterServers.shared();

	private final RedisCommands<String, String> master = this.servers.node(this.servers.getMasterPorts().get(0));

	private final RedisCommands<String, String> replica = this.servers.node(this.servers.replicaPort());

	@Test
	void case71WhenReplicaIsCutOffThenReadsOfAnOperationSeeTheMaster() throws Exception {
		this.replica.dispatch(CommandType.READONLY, new StatusOutput<>(StringCodec.UTF8));
		String key = keyOfFirstMaster();
		// the driver reads from no replica that has received nothing yet
		this.master.set(key, "before");
		await().until(() -> "before".equals(this.replica.get(key)));
		try (FencedRedis redis = Topology.CLUSTER.connect(ReadFrom.REPLICA_PREFERRED)) {
			StringRedisTemplate template = redis.template();
			await().until(() -> "before".equals(redis.plain().opsForValue().get(key)));
			setReplication("-");
			this.master.clientKill(KillArgs.Builder.typeSlave());
			await().until(() -> this.master.info("replication").contains("connected_slaves:0"));
			OperationContext context = FencedRedis.operation(FencedRedis.next("reads"));
			FencedRedis.in(context, () -> {
				template.opsForValue().set(key, "after");
				assertThat(template.opsForValue().get(key)).isEqualTo("after");
				assertThat(template.executePipelined((RedisCallback<?>) (connection) -> {
					connection.stringCommands().get(key.getBytes());
					return null;
				})).containsExactly("after");
				assertThat(template.opsForValue().multiGet(List.of(key, key))).containsExactly("after", "after");
				return true;
			});
			assertThat(FencedRedis.in(FencedRedis.operation(FencedRedis.next("reads")),
					() -> template.opsForValue().get(key)))
				.isEqualTo("after");
			assertThat(template.opsForValue().get(key)).isEqualTo("before");
			assertThat(redis.plain().opsForValue().get(key)).isEqualTo("before");
		}
		finally {
			setReplication("+");
			await().until(() -> this.replica.info("replication").contains("master_link_status:up"));
		}
	}

	private void setReplication(String sign) {
		this.master.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("SETUSER")
					.add("default")
					.add(sign + "psync")
					.add(sign + "sync"));
	}

	private String keyOfFirstMaster() {
		int port = this.servers.getMasterPorts().get(0);
		return IntStream.range(0, 1000)
			.mapToObj((i) -> "replica-reads:" + i)
			.filter((key) -> this.servers.masterOf(SlotHash.getSlot(key)) == port)
			.findFirst()
			.orElseThrow();
	}

}
