package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The commands that cannot travel inside a script, and what to do instead.
 */
final class Refusals {

	private static final String POLL = "it would not block where it is checked; poll with its form that does not "
			+ "block, or wait before the operation starts";

	private static final String OUTSIDE = "it cannot be fenced; call it outside of the operation";

	private static final String SUBSCRIBE = "a subscription outlives the operation; subscribe outside of it";

	static final String OTHER_DATABASE = "it writes to a database or server whose guards are not checked; "
			+ "read here and write through a connection factory of that one";

	private static final String WIDE_BITFIELD = "integers of more than 53 bits lose digits in a script; use fields of "
			+ "53 bits or fewer, or GETRANGE and SETRANGE";

	private static final String TOO_LONG = "more than " + LargeCommands.MOST_ARGUMENTS
			+ " arguments of it cannot be sent in one step; split it";

	/**
	 * Of a function.
	 */
	static final String FUNCTION = "a script cannot call a function; call it with RedisConnection.execute, "
			+ "neither in a pipeline or transaction nor in a cluster or where replicas are read, or send its code with EVAL";

	/**
	 * Of a command in a pipeline or transaction that the operation has not begun.
	 */
	static final String BEGUN_OUTSIDE = "its pipeline or transaction was begun outside of the operation and ends after "
			+ "it; begin it inside";

	private static final Pattern SELECT = Pattern.compile("['\"]select['\"]", Pattern.CASE_INSENSITIVE);

	private static final int MOST_EXACT_BITS = 53;

	/**
	 * By the name of the command: why it is refused, and the alternative.
	 */
	static final Map<String, String> REMEDIES = remedies();

	private Refusals() {
	}

	private static Map<String, String> remedies() {
		Map<String, String> remedies = new TreeMap<>();
		put(remedies, "BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN WAIT WAITAOF", POLL);
		put(remedies, "MONITOR PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUBSCRIBE SUNSUBSCRIBE UNSUBSCRIBE", SUBSCRIBE);
		put(remedies, "FCALL FCALL_RO", FUNCTION);
		put(remedies, "DEBUG FAILOVER FUNCTION MODULE PSYNC REPLICAOF SHUTDOWN SLAVEOF SYNC", OUTSIDE);
		put(remedies, "MIGRATE MOVE", OTHER_DATABASE);
		return Map.copyOf(remedies);
	}

	private static void put(Map<String, String> remedies, String names, String remedy) {
		List.of(names.split(" ")).forEach((name) -> remedies.put(name, remedy));
	}

	/**
	 * Whether a command that is refused inside of operations may write outside of them.
	 * @param name the name of the command in upper case
	 * @return whether it may
	 */
	static boolean mayWrite(String name) {
		String remedy = REMEDIES.get(name);
		return (POLL.equals(remedy) && !name.startsWith("WAIT")) || FUNCTION.equals(remedy)
				|| OTHER_DATABASE.equals(remedy);
	}

	/**
	 * Why a command with certain arguments cannot travel inside a script.
	 * @param name the name of the command in upper case
	 * @param arguments its arguments
	 * @return why, and the alternative; {@code null} if it is not refused
	 */
	static @Nullable String find(String name, EncodedArguments arguments) {
		String remedy = findAnywhere(name, arguments);
		if (remedy != null) {
			return remedy;
		}
		return switch (name) {
			case "FCALL", "FCALL_RO" -> FUNCTION;
			case "BITFIELD", "BITFIELD_RO" ->
				arguments.toUpperCase().stream().skip(1).anyMatch(Refusals::isWide) ? WIDE_BITFIELD : null;
			default -> isTooLong(name, arguments) ? TOO_LONG : null;
		};
	}

	/**
	 * Why a command with certain arguments can be fenced in no way.
	 * @param name the name of the command in upper case
	 * @param arguments its arguments
	 * @return why, and the alternative; {@code null} if a transaction will do
	 */
	static @Nullable String findAnywhere(String name, EncodedArguments arguments) {
		return switch (name) {
			case "FCALL", "FCALL_RO" -> null;
			case "XREAD", "XREADGROUP" -> has(options(arguments), "BLOCK") ? POLL : null;
			case "EVAL", "EVAL_RO" ->
				arguments.toBytes().stream().limit(1).anyMatch(Refusals::selectsDatabase) ? OTHER_DATABASE : null;
			case "COPY" -> has(arguments.toUpperCase().stream().skip(2), "DB") ? OTHER_DATABASE : null;
			default -> REMEDIES.get(name);
		};
	}

	/**
	 * Whether a script moves to another database, whose guards are not checked.
	 * @param source its source
	 * @return whether it names the command
	 */
	static boolean selectsDatabase(byte[] source) {
		return SELECT.matcher(new String(source, StandardCharsets.ISO_8859_1)).find();
	}

	// a stream may have any name
	private static Stream<String> options(EncodedArguments arguments) {
		return arguments.toUpperCase().stream().takeWhile((word) -> !word.equals("STREAMS"));
	}

	private static boolean has(Stream<String> words, String word) {
		return words.anyMatch(word::equals);
	}

	private static boolean isTooLong(String name, EncodedArguments arguments) {
		return LargeCommands.isLarge(arguments.count()) && LargeCommands.shape(name).equals("-")
				&& CommandKind.of(name) != CommandKind.SCRIPT;
	}

	private static boolean isWide(String word) {
		return word.toLowerCase(Locale.ROOT).matches("[iu][0-9]{1,2}")
				&& Integer.parseInt(word.substring(1)) > MOST_EXACT_BITS;
	}

}
