package io.fencing.fence.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.CommandArgs;
import org.jspecify.annotations.Nullable;

/**
 * Makes the arguments of a script out of those of a command: the keys first, the guards
 * after them, then the arguments, and what {@code check.lua} expects at the end.
 * Thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class CommandRewriter<K, V> {

	private final RedisCodec<K, V> codec;

	private final boolean resp3;

	/**
	 * Create a rewriter.
	 * @param codec encodes keys
	 * @param resp3 whether the driver speaks RESP3
	 */
	CommandRewriter(RedisCodec<K, V> codec, boolean resp3) {
		this.codec = codec;
		this.resp3 = resp3;
	}

	/**
	 * The script that a command travels in.
	 * @param name the name of the command
	 * @param args its arguments
	 * @param admission what it must show
	 * @return the script
	 */
	FenceScript scriptFor(String name, @Nullable CommandArgs<K, V> args, Admission admission) {
		if (args != null && LargeCommands.isLarge(args.count())) {
			return FenceScript.LARGE;
		}
		return (admission.isShort() && !needsCare(name)) ? FenceScript.EQUAL : FenceScript.COMMAND;
	}

	// its reply is not the same in Lua
	private boolean needsCare(String name) {
		return name.startsWith("INCR") || name.startsWith("DECR") || name.equals("HINCRBY") || isRead3(name);
	}

	// Lettuce reads several messages of a stream only in the form that its protocol has;
	// for all else that of RESP2 is exact, while maps and nulls of RESP3 suffer in Lua
	private boolean isRead3(String name) {
		return this.resp3 && name.startsWith("XREAD");
	}

	/**
	 * Make the arguments of the script of a command.
	 * @param script the script
	 * @param name the name of the command
	 * @param args its arguments
	 * @param keys those of its keys that a cluster must see
	 * @param admission what it must show
	 * @return what comes after the script
	 */
	CommandArgs<K, V> command(FenceScript script, String name, @Nullable CommandArgs<K, V> args, List<byte[]> keys,
			Admission admission) {
		CommandArgs<K, V> tail = new CommandArgs<>(this.codec).add(keys.size() + admission.count());
		keys.forEach((key) -> addKey(tail, key));
		admission.keys().forEach((key) -> addKey(tail, key));
		if (script != FenceScript.EQUAL) {
			tail.add(isRead3(name) ? "resp3" : LargeCommands.shape(name));
		}
		tail.add(name);
		if (args != null) {
			tail.addAll(args);
		}
		if (script == FenceScript.EQUAL) {
			admission.addTokenTo(tail::add);
		}
		else {
			admission.addTo(tail::add);
		}
		return tail;
	}

	/**
	 * Whether a command can share a script with others.
	 * @param name the name of the command
	 * @param args its arguments
	 * @return whether it need not travel alone
	 */
	boolean canShare(String name, @Nullable CommandArgs<K, V> args) {
		return !isRead3(name) && (args == null || !LargeCommands.isLarge(args.count()));
	}

	/**
	 * Make the arguments of the script of several commands.
	 * @param bundle the commands
	 * @param admission what they must show
	 * @return the script and what comes after it
	 */
	CommandArgs<K, V> bundle(Bundle<K, V> bundle, Admission admission) {
		CommandArgs<K, V> head = new CommandArgs<>(this.codec).add(FenceScript.BUNDLE.text()).add(admission.count());
		admission.keys().forEach((key) -> addKey(head, key));
		CommandArgs<K, V> tail = new CommandArgs<>(this.codec);
		admission.addTo(tail::add);
		return bundle.between(head, tail);
	}

	/**
	 * Make the arguments of a user's script.
	 * @param arguments those of EVAL or EVALSHA: the script, the number of keys, the
	 * keys, the arguments
	 * @param admission what it must show
	 * @return what comes after the script
	 */
	CommandArgs<K, V> script(List<byte[]> arguments, Admission admission) {
		int keys = numberOfKeys(arguments);
		CommandArgs<K, V> tail = new CommandArgs<>(this.codec).add(keys + admission.count());
		arguments.subList(2, 2 + keys).forEach((key) -> addKey(tail, key));
		admission.keys().forEach((key) -> addKey(tail, key));
		arguments.subList(2 + keys, arguments.size()).forEach(tail::add);
		admission.addTo(tail::add);
		return tail;
	}

	/**
	 * Whether the arguments of a user's script are such that a server would run it.
	 * @param arguments those of EVAL or EVALSHA
	 * @return whether they have as many keys as they say
	 */
	static boolean isSound(List<byte[]> arguments) {
		int keys = numberOfKeys(arguments);
		return keys >= 0 && keys <= arguments.size() - 2;
	}

	private static int numberOfKeys(List<byte[]> arguments) {
		String number = (arguments.size() > 1) ? new String(arguments.get(1), StandardCharsets.US_ASCII) : "";
		return number.matches("[0-9]{1,9}") ? Integer.parseInt(number) : -1;
	}

	// as a key, so that a cluster finds the node by it
	private void addKey(CommandArgs<K, V> args, byte[] key) {
		args.addKey(this.codec.decodeKey(ByteBuffer.wrap(key)));
	}

}
