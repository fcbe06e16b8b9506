package io.fencing.fence.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandArgsAccessor;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * The keys of a command in a cluster. They are declared as keys of its script, so that
 * while their slot moves from one node to another the script runs only where all of them
 * and the guards are: with the guards alone it would follow them to a node that does not
 * have the data yet, find nothing and write there.
 *
 * <p>
 * Lettuce shows no key of a command but the first. Of commands that are not known here,
 * the others stay undeclared: inside the script the server refuses a command with several
 * keys where it does not have them all.
 */
final class DataKeys {

	private static final Map<String, Positions> SEVERAL = new HashMap<>();

	static {
		put("DEL EXISTS MGET PFCOUNT PFMERGE SDIFF SDIFFSTORE SINTER SINTERSTORE SUNION SUNIONSTORE TOUCH UNLINK",
				new Ranged(0, Integer.MAX_VALUE, 1));
		put("MSET MSETNX", new Ranged(0, Integer.MAX_VALUE, 2));
		put("SINTERCARD ZDIFF ZINTER ZINTERCARD ZUNION", new Counted(0));
		put("ZDIFFSTORE ZINTERSTORE ZUNIONSTORE", new Counted(1));
		put("BITOP", new Ranged(1, Integer.MAX_VALUE, 1));
		put("COPY GEOSEARCHSTORE LMOVE RENAME RENAMENX RPOPLPUSH SMOVE ZRANGESTORE", new Ranged(0, 2, 1));
	}

	private static void put(String names, Positions positions) {
		for (String name : StringUtils.delimitedListToStringArray(names, " ")) {
			SEVERAL.put(name, positions);
		}
	}

	private DataKeys() {
	}

	/**
	 * The keys to declare.
	 * @param name the name of the command
	 * @param args its arguments
	 * @param arguments the same as bytes
	 * @return the keys, none if the command has none
	 */
	static List<byte[]> of(String name, @Nullable CommandArgs<?, ?> args, EncodedArguments arguments) {
		ByteBuffer first = (args != null) ? CommandArgsAccessor.encodeFirstKey(args) : null;
		if (first == null) {
			return List.of();
		}
		Positions positions = SEVERAL.get(name);
		if (positions != null) {
			return positions.in(arguments.toBytes());
		}
		byte[] key = new byte[first.remaining()];
		first.duplicate().get(key);
		return List.of(key);
	}

	/**
	 * Where among its arguments a command has its keys.
	 */
	private interface Positions {

		List<byte[]> in(List<byte[]> arguments);

	}

	/**
	 * At a regular distance.
	 *
	 * @param from the first one
	 * @param to after the last one
	 * @param step from one to the next
	 */
	private record Ranged(int from, int to, int step) implements Positions {

		@Override
		public List<byte[]> in(List<byte[]> arguments) {
			List<byte[]> keys = new ArrayList<>();
			for (int i = this.from; i < Math.min(this.to, arguments.size()); i += this.step) {
				keys.add(arguments.get(i));
			}
			return keys;
		}

	}

	/**
	 * Behind their number, and before it.
	 *
	 * @param at where the number is
	 */
	private record Counted(int at) implements Positions {

		@Override
		public List<byte[]> in(List<byte[]> arguments) {
			List<byte[]> keys = new ArrayList<>(arguments.subList(0, this.at));
			int number = Integer.parseInt(new String(arguments.get(this.at), StandardCharsets.US_ASCII));
			int first = this.at + 1;
			keys.addAll(arguments.subList(first, Math.min(first + number, arguments.size())));
			return keys;
		}

	}

}
