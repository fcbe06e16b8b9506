package io.fencing.fence.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.fencing.Observation;
import io.fencing.context.OperationContext;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks what would have become of the commands of an operation that is only observed, had
 * it been enforced: claims once at each guard, on a connection of its own. Nobody waits
 * for the answer, and no failure reaches anybody. Thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FenceObserver<K, V> {

	private static final Logger logger = LoggerFactory.getLogger(FenceObserver.class);

	private static final Duration LONGEST_ANSWER = Duration.ofSeconds(5);

	private final Supplier<RedisFence> fence;

	private final Supplier<CompletionStage<StatefulConnection<K, V>>> connect;

	private final RedisCodec<K, V> codec;

	private final int database;

	private final AtomicReference<@Nullable CompletionStage<StatefulConnection<K, V>>> connection = new AtomicReference<>();

	/**
	 * Create an observer.
	 * @param fence gives the fence
	 * @param connect connects to the server, without waiting; its connection is closed
	 * with the client
	 * @param codec encodes keys
	 * @param database the database that its connection is in
	 */
	FenceObserver(Supplier<RedisFence> fence, Supplier<CompletionStage<StatefulConnection<K, V>>> connect,
			RedisCodec<K, V> codec, int database) {
		this.fence = fence;
		this.connect = connect;
		this.codec = codec;
		this.database = database;
	}

	/**
	 * Look at one command.
	 * @param context the operation
	 * @param command the command
	 * @param database the database of the data
	 */
	void observe(OperationContext context, IncomingCommand<K, V, ?> command, int database) {
		try {
			if (command.remedy() != null) {
				this.fence.get().observed(context, Observation.REFUSED);
				return;
			}
			if (command.isKeyless()) {
				return;
			}
			Admission admission = this.fence.get().observation(context, database, command.slot());
			if (admission == null) {
				return;
			}
			if (database != this.database) {
				this.fence.get().observed(context, Observation.UNKNOWN);
				return;
			}
			claim(context, admission);
		}
		catch (RuntimeException ex) {
			unknown(context, ex);
		}
	}

	private void claim(OperationContext context, Admission admission) {
		CommandArgs<K, V> tail = new CommandRewriter<>(this.codec, false).command(FenceScript.COMMAND, "PING", null,
				List.of(), admission);
		AsyncCommand<K, V, String> claim = new AsyncCommand<>(
				new Command<>(CommandType.EVAL, new StatusOutput<>(this.codec),
						new CommandArgs<>(this.codec).add(FenceScript.COMMAND.text()).addAll(tail)));
		connection().thenCompose((connection) -> {
			connection.dispatch(claim);
			return claim;
		})
			.toCompletableFuture()
			.orTimeout(LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS)
			.whenComplete((answer, failure) -> {
				if (failure == null) {
					admission.grant();
					this.fence.get().observed(context, Observation.ADMITTED);
				}
				else if (isRefusal(failure)) {
					this.fence.get().observed(context, Observation.REFUSED);
				}
				else {
					unknown(context, failure);
				}
			});
	}

	private CompletionStage<StatefulConnection<K, V>> connection() {
		CompletableFuture<StatefulConnection<K, V>> connecting = new CompletableFuture<>();
		CompletionStage<StatefulConnection<K, V>> known = this.connection.compareAndExchange(null, connecting);
		if (known != null) {
			return known;
		}
		CompletableFuture.completedFuture(this.connect)
			.thenCompose(Supplier::get)
			.whenComplete((connected, failure) -> {
				if (failure == null) {
					connecting.complete(connected);
					return;
				}
				// tried again for the next operation
				this.connection.set(null);
				connecting.completeExceptionally(failure);
			});
		return connecting;
	}

	private static boolean isRefusal(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof RedisCommandExecutionException && Admission.isRefusal(cause.getMessage())) {
				return true;
			}
		}
		return false;
	}

	private void unknown(OperationContext context, Throwable failure) {
		logger.debug("Operation '{}' could not be observed at storage '{}'", context.getOperation(),
				this.fence.get().getStorage(), failure);
		this.fence.get().observed(context, Observation.UNKNOWN);
	}

}
