package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

/**
 * A command as it comes to a connection, and what must be known of it to send it. Looks
 * into the arguments only when asked. Not thread-safe.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 * @param <T> the type of the result
 */
final class IncomingCommand<K, V, T> {

	private static final String NO_KEY = "it has no key, so no slot of the cluster can check it; call it outside of "
			+ "the operation";

	private final RedisCommand<K, V, T> command;

	private final String name;

	private final CommandKind kind;

	private final boolean cluster;

	private final EncodedArguments arguments;

	private @Nullable List<byte[]> keys;

	/**
	 * Look at a command.
	 * @param command the command
	 * @param cluster whether it is sent to a cluster, where its keys matter
	 */
	IncomingCommand(RedisCommand<K, V, T> command, boolean cluster) {
		this.command = command;
		this.name = name(command.getType());
		this.kind = CommandKind.of(this.name);
		this.cluster = cluster;
		this.arguments = EncodedArguments.of(command.getArgs());
	}

	// what is sent counts: the text of a caller's own keyword may be another
	private static String name(ProtocolKeyword type) {
		return ((type instanceof CommandType) ? type.toString()
				: new String(type.getBytes(), StandardCharsets.US_ASCII))
			.toUpperCase(Locale.ROOT);
	}

	RedisCommand<K, V, T> command() {
		return this.command;
	}

	/**
	 * Its name.
	 * @return the name in upper case
	 */
	String name() {
		return this.name;
	}

	CommandKind kind() {
		return this.kind;
	}

	/**
	 * Its arguments as the driver has them.
	 * @return the arguments, {@code null} for none
	 */
	@Nullable CommandArgs<K, V> args() {
		return this.command.getArgs();
	}

	/**
	 * Its arguments as they would be sent.
	 * @return each argument
	 */
	List<byte[]> arguments() {
		return this.arguments.toBytes();
	}

	/**
	 * Whether it may change data, or lets others do so.
	 * @return whether it may
	 */
	boolean mayWrite() {
		return this.kind == CommandKind.WRITE || this.kind == CommandKind.SCRIPT || Refusals.mayWrite(this.name);
	}

	/**
	 * The keys to declare with it.
	 * @return its keys; none where there are no slots
	 */
	List<byte[]> keys() {
		List<byte[]> found = this.keys;
		if (found == null) {
			found = this.cluster ? findKeys() : List.of();
			this.keys = found;
		}
		return found;
	}

	private List<byte[]> findKeys() {
		if (this.kind != CommandKind.SCRIPT) {
			return DataKeys.of(this.name, args(), this.arguments);
		}
		List<byte[]> bytes = arguments();
		boolean hasKey = bytes.size() > 2 && !"0".equals(new String(bytes.get(1), StandardCharsets.US_ASCII));
		return hasKey ? List.of(bytes.get(2)) : List.of();
	}

	/**
	 * The slot that it goes to.
	 * @return the slot, {@link Admission#NO_SLOT} if it has none
	 */
	int slot() {
		return keys().isEmpty() ? Admission.NO_SLOT : SlotHash.getSlot(keys().get(0));
	}

	/**
	 * Whether no slot of a cluster tells where its guards are.
	 * @return whether it goes to a cluster and has no key
	 */
	boolean isKeyless() {
		return this.cluster && keys().isEmpty();
	}

	/**
	 * Why it cannot be sent in an operation.
	 * @return why, and what to do instead; {@code null} if it can
	 */
	@Nullable String remedy() {
		String remedy = Refusals.find(this.name, this.arguments);
		return (remedy == null && isKeyless() && this.kind != CommandKind.READ) ? NO_KEY : remedy;
	}

}
