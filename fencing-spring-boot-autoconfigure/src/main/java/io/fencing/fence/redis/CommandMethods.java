package io.fencing.fence.redis;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisCommands;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.util.ClassUtils;

/**
 * Finds the command behind a method of Spring Data Redis's command interfaces: by the
 * method's name, which is that of the command but for a few. One whose name is no command
 * counts as a write.
 */
final class CommandMethods {

	private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("getConfig", "CONFIG"),
			Map.entry("setConfig", "CONFIG"), Map.entry("resetConfigStats", "CONFIG"),
			Map.entry("rewriteConfig", "CONFIG"), Map.entry("killClient", "CLIENT"),
			Map.entry("setClientName", "CLIENT"), Map.entry("getClientName", "CLIENT"),
			Map.entry("getClientList", "CLIENT"), Map.entry("replicaOfNoOne", "REPLICAOF"),
			Map.entry("scriptFlush", "SCRIPT"), Map.entry("scriptKill", "SCRIPT"), Map.entry("scriptLoad", "SCRIPT"),
			Map.entry("scriptExists", "SCRIPT"));

	// Spring Data Redis has no form of them for transactions of Jedis
	private static final Set<String> QUEUED_RAW = Set.of("flushAll", "flushDb", "publish");

	private CommandMethods() {
	}

	/**
	 * Whether a type is one of the interfaces that commands are grouped in.
	 * @param type the type
	 * @return whether it is
	 */
	static boolean isCommands(Class<?> type) {
		return type.isInterface() && type.getPackageName().equals(RedisCommands.class.getPackageName())
				&& type.getSimpleName().matches("Redis.*Commands");
	}

	/**
	 * Whether a method of a connection stands for a command.
	 * @param method the method
	 * @return whether it does
	 */
	static boolean isCommand(Method method) {
		return ClassUtils.hasMethod(RedisCommands.class, method.getName(), method.getParameterTypes());
	}

	/**
	 * The command that a call stands for.
	 * @param method the method
	 * @param arguments its arguments
	 * @return the name of the command in upper case
	 */
	static String name(Method method, @Nullable Object[] arguments) {
		String name = method.getName();
		if (name.equals("execute") && arguments[0] instanceof String command) {
			return command.trim().toUpperCase(Locale.ROOT);
		}
		return NAMES.getOrDefault(name, name.toUpperCase(Locale.ROOT));
	}

	/**
	 * The arguments of a command, as far as it matters for what can be fenced.
	 * @param arguments the arguments of the call
	 * @return those that are sent as they are
	 */
	static EncodedArguments arguments(@Nullable Object[] arguments) {
		boolean blocking = Arrays.stream(arguments)
			.anyMatch((argument) -> argument instanceof StreamReadOptions options && options.isBlocking());
		if (blocking) {
			return EncodedArguments.of(List.of("BLOCK".getBytes(StandardCharsets.UTF_8)));
		}
		return EncodedArguments
			.of((arguments.length == 2 && arguments[1] instanceof byte[][] raw) ? List.of(raw) : List.of());
	}

	/**
	 * Whether a command can only be queued by its name and arguments.
	 * @param method the method that stands for it
	 * @return whether it can be queued in no other way
	 */
	static boolean isQueuedRaw(Method method) {
		return QUEUED_RAW.contains(method.getName());
	}

	/**
	 * The arguments of such a command.
	 * @param arguments the arguments of the call
	 * @return each as it is sent
	 */
	static byte[][] raw(@Nullable Object[] arguments) {
		return Arrays.stream(arguments)
			.flatMap((argument) -> (argument instanceof byte[][] several) ? Arrays.stream(several)
					: Stream.of((argument instanceof byte[] bytes) ? bytes
							: String.valueOf(argument).getBytes(StandardCharsets.UTF_8)))
			.toArray(byte[][]::new);
	}

}
