package io.fencing.fence.redis;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;

import io.fencing.FencingException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;

/**
 * Commands that travel inside one script: each keeps its own output and is answered as
 * alone. Completed by the driver, on its thread.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class BundledCommands<K, V> extends CommandWrapper<K, V, Void> {

	private final List<RedisCommand<K, V, ?>> commands;

	private final Admission admission;

	private final Consumer<FencingException> onRefusal;

	/**
	 * Create the command that is sent.
	 * @param codec the codec of the connection
	 * @param commands the commands that the caller waits for
	 * @param args the script and its arguments
	 * @param admission what they must show
	 * @param onRefusal told of a refusal
	 */
	BundledCommands(RedisCodec<K, V> codec, List<RedisCommand<K, V, ?>> commands, CommandArgs<K, V> args,
			Admission admission, Consumer<FencingException> onRefusal) {
		super(new Command<>(CommandType.EVAL, new Output<>(codec, commands), args));
		this.commands = commands;
		this.admission = admission;
		this.onRefusal = onRefusal;
	}

	// the driver sends again what had no whole answer when the connection was lost; once
	// an answer has begun, all commands have run
	@Override
	public void encode(ByteBuf buf) {
		Output<?, ?> output = (Output<?, ?>) getOutput();
		if (output.answered < 0) {
			super.encode(buf);
			return;
		}
		output.lost = true;
		new Command<>(CommandType.PING, getOutput()).encode(buf);
	}

	@Override
	protected void doOnComplete() {
		String error = getOutput().getError();
		FencingException refusal = this.admission.refusal(error);
		if (refusal != null) {
			this.onRefusal.accept(refusal);
			doOnError(refusal);
			return;
		}
		if (error == null) {
			this.admission.grant();
		}
		Output<?, ?> output = (Output<?, ?>) getOutput();
		int answered = output.lost ? output.answered : this.commands.size();
		for (RedisCommand<K, V, ?> command : this.commands.subList(0, answered)) {
			FencedCommand.setError(command.getOutput(), error);
			command.complete();
		}
		for (RedisCommand<K, V, ?> command : this.commands.subList(answered, this.commands.size())) {
			command.completeExceptionally(new RedisConnectionException(
					"The connection was lost before the answer had arrived; the command has run"));
		}
	}

	@Override
	protected void doOnError(Throwable failure) {
		for (RedisCommand<K, V, ?> command : this.commands) {
			if (failure instanceof CancellationException) {
				command.cancel();
			}
			else {
				command.completeExceptionally(failure);
			}
		}
	}

	/**
	 * Gives each answer of a list to the output of its command.
	 *
	 * @param <K> the type of keys
	 * @param <V> the type of values
	 */
	@NullUnmarked
	private static final class Output<K, V> extends CommandOutput<K, V, Void> {

		private final List<RedisCommand<K, V, ?>> commands;

		private int answered = -1;

		private boolean lost;

		Output(RedisCodec<K, V> codec, List<RedisCommand<K, V, ?>> commands) {
			super(codec, null);
			this.commands = commands;
		}

		// what one output cannot take is no failure of the others
		private void give(Consumer<CommandOutput<K, V, ?>> answer) {
			if (this.lost) {
				return;
			}
			RedisCommand<K, V, ?> command = this.commands.get(this.answered);
			try {
				if (command.getOutput() != null) {
					answer.accept(command.getOutput());
				}
			}
			catch (RuntimeException ex) {
				command.completeExceptionally(ex);
			}
		}

		@Override
		public void multiArray(int count) {
			if (this.answered < 0) {
				this.answered = 0;
			}
			else {
				give((output) -> output.multiArray(count));
			}
		}

		@Override
		public void multiMap(int count) {
			give((output) -> output.multiMap(count));
		}

		@Override
		public void multiSet(int count) {
			give((output) -> output.multiSet(count));
		}

		@Override
		public void set(@Nullable ByteBuffer bytes) {
			give((output) -> output.set(bytes));
		}

		@Override
		public void setSingle(ByteBuffer bytes) {
			give((output) -> output.setSingle(bytes));
		}

		@Override
		public void setBigNumber(ByteBuffer bytes) {
			give((output) -> output.setBigNumber(bytes));
		}

		@Override
		public void set(long integer) {
			give((output) -> output.set(integer));
		}

		@Override
		public void set(double number) {
			give((output) -> output.set(number));
		}

		@Override
		public void set(boolean value) {
			give((output) -> output.set(value));
		}

		@Override
		public void setError(ByteBuffer bytes) {
			if (this.answered < 0) {
				super.setError(bytes);
			}
			else {
				give((output) -> output.setError(bytes));
			}
		}

		@Override
		public void complete(int depth) {
			if (depth > 0) {
				give((output) -> output.complete(depth - 1));
			}
			if (depth == 1 && !this.lost) {
				this.answered++;
			}
		}

	}

}
