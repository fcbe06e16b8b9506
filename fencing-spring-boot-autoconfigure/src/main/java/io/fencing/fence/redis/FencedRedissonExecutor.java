package io.fencing.fence.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.NullUnmarked;
import org.redisson.api.BatchOptions;
import org.redisson.api.RFuture;
import org.redisson.client.RedisException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.Codec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.command.CommandAsyncExecutor;
import org.redisson.command.CommandAsyncService;
import org.redisson.command.CommandBatchService;
import org.redisson.connection.NodeSource;
import org.redisson.misc.CompletableFutureWrapper;

/**
 * Redisson's executor with commands that go by the fence, those of operations to the
 * master. Thread-safe.
 */
@NullUnmarked
final class FencedRedissonExecutor extends CommandAsyncService {

	private final RedissonCalls calls;

	FencedRedissonExecutor(CommandAsyncExecutor executor, RedissonCalls calls) {
		super(executor, false);
		this.calls = calls;
	}

	@Override
	public <V, R> RFuture<R> async(boolean readOnly, NodeSource source, Codec codec, RedisCommand<V> command,
			Object[] params, boolean ignoreRedirect, boolean noRetry) {
		RedissonCall<V> call = this.calls.replace(command, params, null);
		if (call == null) {
			boolean anywhere = readOnly && OperationContext.getEnforced() == null;
			return super.async(anywhere, source, codec, command, params, ignoreRedirect, noRetry);
		}
		if (call.script() == null) {
			// as a server that has forgotten it: the caller sends the source
			return new CompletableFutureWrapper<>(
					new RedisNoScriptException("NOSCRIPT No matching script. Please use EVAL."));
		}
		CompletableFuture<R> sent = send(call, source, codec, ignoreRedirect, call.noRetry(noRetry));
		if (!call.onlyClaims()) {
			return new CompletableFutureWrapper<>(sent);
		}
		CompletableFuture<R> read = sent
			.thenCompose((claimed) -> super.<V, R>async(false, source, codec, command, params, ignoreRedirect, noRetry)
				.toCompletableFuture());
		sent.exceptionally((failure) -> {
			RedissonCalls.release(params);
			return null;
		});
		return new CompletableFutureWrapper<>(read);
	}

	// by their names, scripts of the client's own objects would not come by here
	@Override
	protected boolean isEvalCacheActive() {
		return OperationContext.getEnforced() == null && super.isEvalCacheActive();
	}

	private <V, R> CompletableFuture<R> send(RedissonCall<V> call, NodeSource source, Codec codec,
			boolean ignoreRedirect, boolean noRetry) {
		CompletableFuture<R> result = new CompletableFuture<>();
		RFuture<R> named = super.async(false, source, codec, call.command(false), call.params(false), ignoreRedirect,
				noRetry);
		named.whenComplete((answer, failure) -> {
			if (RedissonCall.isForgotten(failure)) {
				RFuture<R> text = super.async(false, source, codec, call.command(true), call.params(true),
						ignoreRedirect, noRetry);
				text.whenComplete((late, lateFailure) -> complete(result, call, late, lateFailure));
			}
			else {
				complete(result, call, answer, failure);
			}
		});
		return result;
	}

	private static <R> void complete(CompletableFuture<R> result, RedissonCall<?> call, R answer, Throwable failure) {
		FencingException refusal = call.answered(failure);
		if (refusal != null) {
			result.completeExceptionally(refusal);
		}
		else if (failure != null) {
			result.completeExceptionally(failure);
		}
		else {
			result.complete(answer);
		}
	}

	@Override
	public CommandBatchService createCommandBatchService(BatchOptions options) {
		return new FencedRedissonBatch(this, options, this.calls, OperationContext.get());
	}

	@Override
	public RedisException convertException(ExecutionException exception) {
		Refused.throwIfRefused(exception);
		return super.convertException(exception);
	}

}
