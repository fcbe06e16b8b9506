package io.fencing.fence.redis;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.BatchOptions.ExecutionMode;
import org.redisson.api.BatchResult;
import org.redisson.api.RFuture;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.command.CommandBatchService;
import org.redisson.connection.NodeSource;

/**
 * A pipeline or transaction of Redisson whose commands go by the fence. Used by the
 * thread that has the connection; its commands are completed by the driver.
 */
@NullUnmarked
final class FencedRedissonBatch extends CommandBatchService {

	private final FencedRedissonExecutor executor;

	private final RedissonCalls calls;

	private final Batch batch;

	private volatile @Nullable FencingException refusal;

	FencedRedissonBatch(FencedRedissonExecutor executor, BatchOptions options, RedissonCalls calls,
			@Nullable OperationContext context) {
		super(executor, options);
		this.executor = executor;
		this.calls = calls;
		this.batch = new Batch(context, options.getExecutionMode() != ExecutionMode.IN_MEMORY);
	}

	@Override
	public <V, R> RFuture<R> async(boolean readOnly, NodeSource source, Codec codec, RedisCommand<V> command,
			Object[] params, boolean ignoreRedirect, boolean noRetry) {
		RedissonCall<V> call = this.calls.replace(command, params, this.batch);
		if (call == null) {
			boolean anywhere = readOnly && OperationContext.getEnforced() == null;
			return super.async(anywhere, source, codec, command, params, ignoreRedirect, noRetry);
		}
		RFuture<R> future = super.async(false, source, codec, call.command(true), call.params(true), ignoreRedirect,
				call.noRetry(noRetry));
		future.whenComplete((answer, failure) -> {
			FencingException refused = call.answered(failure);
			if (refused != null) {
				this.refusal = refused;
			}
		});
		return future;
	}

	@Override
	public BatchResult<?> execute() {
		try {
			return super.execute();
		}
		finally {
			throwRefusal();
		}
	}

	private void throwRefusal() {
		if (this.refusal != null) {
			throw this.refusal;
		}
	}

	@Override
	public CommandBatchService createCommandBatchService(BatchOptions options) {
		return this.executor.createCommandBatchService(options);
	}

}
