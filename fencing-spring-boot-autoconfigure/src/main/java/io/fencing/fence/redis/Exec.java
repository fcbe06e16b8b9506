package io.fencing.fence.redis;

import io.lettuce.core.TransactionResult;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;

/**
 * Runs a transaction and notes what it has admitted. Completed by the driver, on its
 * thread.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 * @param <T> the type of the result
 */
final class Exec<K, V, T> extends CommandWrapper<K, V, T> {

	private final Batch batch;

	Exec(RedisCommand<K, V, T> command, Batch batch) {
		super(command);
		this.batch = batch;
	}

	@Override
	public void complete() {
		CommandOutput<K, V, T> output = getOutput();
		if (output != null && !output.hasError() && output.get() instanceof TransactionResult result
				&& !result.wasDiscarded()) {
			this.batch.ran();
		}
		super.complete();
	}

}
