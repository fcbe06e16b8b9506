package io.fencing.fence.redis;

import java.util.function.BooleanSupplier;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;

/**
 * A command that nothing but a transaction keeps from running when a guard has changed.
 * On a connection that is not the one where the guards were watched, an error takes its
 * place. Encoded by the driver, on its thread, each time that it is sent.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 * @param <T> the type of the result
 */
final class CheckedCommand<K, V, T> extends CommandWrapper<K, V, T> {

	/**
	 * What the caller is told.
	 */
	static final String LOST = "the connection was lost after the guards were checked; the command was not run";

	private final RedisCodec<K, V> codec;

	private final BooleanSupplier lost;

	/**
	 * Create a command.
	 * @param command the command that the caller waits for
	 * @param codec the codec of the connection
	 * @param lost whether the connection was lost since before the guards were watched
	 */
	CheckedCommand(RedisCommand<K, V, T> command, RedisCodec<K, V> codec, BooleanSupplier lost) {
		super(command);
		this.codec = codec;
		this.lost = lost;
	}

	@Override
	public void encode(ByteBuf buf) {
		if (!this.lost.getAsBoolean()) {
			super.encode(buf);
			return;
		}
		new Command<>(CommandType.EVAL, getOutput(),
				new CommandArgs<>(this.codec).add("return redis.error_reply('ERR " + LOST + "')").add(0))
			.encode(buf);
	}

}
