package io.fencing.fence.redis;

import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Commands of a pipeline that wait to be sent in one script. Used by the thread that has
 * the connection.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class Bundle<K, V> {

	private static final int MOST_COMMANDS = 100;

	// a script keeps the server busy, and its arguments in memory twice
	private static final int MOST_BYTES = 256 * 1024;

	private final RedisCodec<K, V> codec;

	private final List<RedisCommand<K, V, ?>> commands = new ArrayList<>();

	private final ByteBuf words = Unpooled.buffer();

	private int count;

	/**
	 * Create a bundle.
	 * @param codec encodes arguments
	 */
	Bundle(RedisCodec<K, V> codec) {
		this.codec = codec;
	}

	/**
	 * Add a command.
	 * @param name its name in upper case
	 * @param command the command that the caller waits for
	 */
	void add(String name, RedisCommand<K, V, ?> command) {
		CommandArgs<K, V> args = command.getArgs();
		CommandArgs<K, V> all = new CommandArgs<>(this.codec).add((args != null) ? 1 + args.count() : 1).add(name);
		if (args != null) {
			all.addAll(args);
		}
		all.encode(this.words);
		this.count += all.count();
		this.commands.add(command);
	}

	boolean isEmpty() {
		return this.commands.isEmpty();
	}

	/**
	 * Whether it is time to send the bundle.
	 * @return whether it is large enough
	 */
	boolean isFull() {
		return this.commands.size() >= MOST_COMMANDS || this.words.readableBytes() >= MOST_BYTES;
	}

	/**
	 * What waits.
	 * @return the commands, in order
	 */
	List<RedisCommand<K, V, ?>> getCommands() {
		return this.commands;
	}

	/**
	 * Put what {@code bundle.lua} expects between the keys and what is checked.
	 * @param head the script and its keys
	 * @param tail what is checked
	 * @return all of it
	 */
	CommandArgs<K, V> between(CommandArgs<K, V> head, CommandArgs<K, V> tail) {
		return new Words<>(this, head, tail);
	}

	/**
	 * Arguments of which most are encoded already. They may be sent again, so nothing is
	 * consumed.
	 */
	private static final class Words<K, V> extends CommandArgs<K, V> {

		private final Bundle<K, V> bundle;

		private final CommandArgs<K, V> tail;

		Words(Bundle<K, V> bundle, CommandArgs<K, V> head, CommandArgs<K, V> tail) {
			super(bundle.codec);
			addAll(head);
			this.bundle = bundle;
			this.tail = tail;
		}

		@Override
		public int count() {
			return super.count() + this.bundle.count + this.tail.count();
		}

		@Override
		public void encode(ByteBuf buf) {
			super.encode(buf);
			buf.writeBytes(this.bundle.words.duplicate());
			this.tail.encode(buf);
		}

	}

}
