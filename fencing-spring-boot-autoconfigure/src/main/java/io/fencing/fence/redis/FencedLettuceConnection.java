package io.fencing.fence.redis;

import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.output.CommandOutput;
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

	private final int database;

	private boolean watching;

	FencedLettuceConnection(Supplier<RedisFence> fence, @Nullable StatefulRedisConnection<byte[], byte[]> shared,
			LettuceConnectionProvider provider, long timeout, int database) {
		super(shared, provider, timeout, database);
		this.fence = fence;
		this.database = database;
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

	/**
	 * Calls a function in a transaction, since a script cannot call it.
	 */
	@Override
	@SuppressWarnings("rawtypes")
	public Object execute(String command, @Nullable CommandOutput output, byte[]... args) {
		OperationContext context = OperationContext.getEnforced();
		boolean function = command.trim().toUpperCase(Locale.ROOT).matches("FCALL(_RO)?");
		if (context == null || !function || isPipelined() || isQueueing() || this.watching) {
			return super.execute(command, output, args);
		}
		RedisFence redisFence = this.fence.get();
		redisFence.checkBeforeSending(context);
		context.meetFence();
		try {
			return new WatchedTransaction(this).run(
					() -> redisFence.admission(context, this.refused.database(this.database), Admission.NO_SLOT),
					() -> this.refused.checked(() -> super.execute(command, output, args)));
		}
		finally {
			this.watching = false;
		}
	}

	@Override
	public void watch(byte[]... keys) {
		super.watch(keys);
		this.watching = true;
	}

	@Override
	public void unwatch() {
		super.unwatch();
		this.watching = false;
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

	// its futures cannot wait for the end of a pipeline
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
		this.watching = false;
		return isPipelined() ? super.exec() : this.refused.in(super::exec);
	}

	@Override
	public void discard() {
		this.watching = false;
		super.discard();
	}

	@Override
	public void close() {
		this.refused.endPipeline();
		super.close();
	}

}
