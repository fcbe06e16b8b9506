package io.fencing.fence.redis;

import java.util.List;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * A connection of Spring Data Redis through which refusals reach the caller as what they
 * are. Not thread-safe, as its super class.
 */
@NullUnmarked
final class FencedLettuceConnection extends LettuceConnection {

	private final Supplier<RedisFence> fence;

	private final Refused refused = new Refused();

	FencedLettuceConnection(Supplier<RedisFence> fence, @Nullable StatefulRedisConnection<byte[], byte[]> shared,
			LettuceConnectionProvider provider, long timeout, int database) {
		super(shared, provider, timeout, database);
		this.fence = fence;
	}

	/**
	 * Refuse a subscription inside of an operation.
	 * @param fence gives the fence
	 * @param name the name of the command
	 */
	static void checkNoSubscription(Supplier<RedisFence> fence, String name) {
		OperationContext context = OperationContext.getEnforced();
		if (context != null) {
			throw fence.get().unfenced(context, name, Refusals.REMEDIES.get(name));
		}
	}

	@Override
	public void subscribe(MessageListener listener, byte[]... channels) {
		checkNoSubscription(this.fence, "SUBSCRIBE");
		super.subscribe(listener, channels);
	}

	@Override
	public void pSubscribe(MessageListener listener, byte[]... patterns) {
		checkNoSubscription(this.fence, "PSUBSCRIBE");
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
	public RedisClusterAsyncCommands<byte[], byte[]> getNativeConnection() {
		this.refused.sendOneByOne();
		return super.getNativeConnection();
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
	public @Nullable List<@Nullable Object> exec() {
		return isPipelined() ? super.exec() : this.refused.in(super::exec);
	}

	@Override
	public void close() {
		this.refused.endPipeline();
		super.close();
	}

}
