package io.fencing.fence.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.ClusterCommandExecutor;
import org.springframework.data.redis.connection.ClusterTopologyProvider;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.lettuce.LettuceClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * A connection of Spring Data Redis to a cluster through which refusals reach the caller
 * as what they are. Not thread-safe, as its super class.
 */
@NullUnmarked
final class FencedLettuceClusterConnection extends LettuceClusterConnection {

	private final Supplier<RedisFence> fence;

	private final Refused refused = new Refused();

	FencedLettuceClusterConnection(Supplier<RedisFence> fence,
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> shared, LettuceConnectionProvider provider,
			ClusterTopologyProvider topology, ClusterCommandExecutor executor, Duration timeout) {
		super(shared, provider, topology, executor, timeout);
		this.fence = fence;
	}

	@Override
	public void subscribe(MessageListener listener, byte[]... channels) {
		FencedLettuceConnection.checkNoSubscription(this.fence, "SUBSCRIBE");
		super.subscribe(listener, channels);
	}

	@Override
	public void pSubscribe(MessageListener listener, byte[]... patterns) {
		FencedLettuceConnection.checkNoSubscription(this.fence, "PSUBSCRIBE");
		super.pSubscribe(listener, patterns);
	}

	@Override
	protected DataAccessException convertLettuceAccessException(Exception cause) {
		Refused.throwIfRefused(cause);
		return super.convertLettuceAccessException(cause);
	}

	@Override
	protected StatefulConnection<byte[], byte[]> doGetAsyncDedicatedConnection() {
		return this.refused.dedicated(super.doGetAsyncDedicatedConnection());
	}

	@Override
	public void openPipeline() {
		boolean opened = isPipelined();
		super.openPipeline();
		if (!opened) {
			this.refused.beginPipeline();
		}
	}

	@Override
	public List<@Nullable Object> closePipeline() {
		return isPipelined() ? this.refused.inPipeline(super::closePipeline) : super.closePipeline();
	}

	@Override
	public void close() {
		this.refused.endPipeline();
		super.close();
	}

}
