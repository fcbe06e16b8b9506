package io.fencing.fence.redis;

import java.util.Map;

/**
 * How commands with more arguments than Lua's {@code unpack} takes are split inside the
 * script: how many arguments each part starts with, how many belong together, and what
 * becomes of the replies. Nothing comes between the parts.
 */
final class LargeCommands {

	/**
	 * From here on a command is split.
	 */
	static final int MOST_ARGUMENTS = 7890;

	private static final Map<String, String> SHAPES = Map.ofEntries(Map.entry("DEL", "0 1 sum"),
			Map.entry("EXISTS", "0 1 sum"), Map.entry("HDEL", "1 1 sum"), Map.entry("HMGET", "1 1 all"),
			Map.entry("HMSET", "1 2 last"), Map.entry("HSET", "1 2 sum"), Map.entry("LPUSH", "1 1 last"),
			Map.entry("LPUSHX", "1 1 last"), Map.entry("MGET", "0 1 all"), Map.entry("MSET", "0 2 last"),
			Map.entry("MSETNX", "0 2 one"), Map.entry("PFADD", "1 1 max"), Map.entry("RPUSH", "1 1 last"),
			Map.entry("RPUSHX", "1 1 last"), Map.entry("SADD", "1 1 sum"), Map.entry("SMISMEMBER", "1 1 all"),
			Map.entry("SREM", "1 1 sum"), Map.entry("TOUCH", "0 1 sum"), Map.entry("UNLINK", "0 1 sum"),
			Map.entry("XDEL", "1 1 sum"), Map.entry("ZADD", "1 2 sum"), Map.entry("ZMSCORE", "1 1 all"),
			Map.entry("ZREM", "1 1 sum"));

	private LargeCommands() {
	}

	/**
	 * Whether a command has to be split.
	 * @param arguments the number of its arguments
	 * @return whether there are too many
	 */
	static boolean isLarge(int arguments) {
		return arguments >= MOST_ARGUMENTS;
	}

	/**
	 * How a command can be split.
	 * @param name its name in upper case
	 * @return what {@code large.lua} understands, {@code -} if it cannot be split
	 */
	static String shape(String name) {
		return SHAPES.getOrDefault(name, "-");
	}

}
