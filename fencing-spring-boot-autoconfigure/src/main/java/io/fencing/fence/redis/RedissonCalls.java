package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import io.fencing.context.OperationContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;
import org.redisson.client.protocol.RedisCommand;

/**
 * Decides, where Redisson's executor sends a command, how it is sent: as it is, inside
 * the script, or not at all. Thread-safe.
 */
final class RedissonCalls {

	// it gives the connection back to its pool twice when EXEC answers with an error
	private static final String NO_TRANSACTION = "a transaction of Redisson that is refused would leave its connection "
			+ "to two users; send a script or a pipeline, or use a LettuceConnectionFactory";

	private final Supplier<RedisFence> fence;

	RedissonCalls(Supplier<RedisFence> fence) {
		this.fence = fence;
	}

	/**
	 * How a command is sent.
	 * @param command the command
	 * @param params its parameters, released if they are replaced or refused
	 * @param batch the batch that it is in, {@code null} for none
	 * @param <V> the type of the result
	 * @return the call to send instead, {@code null} to send the command as it is
	 * @throws io.fencing.FencingException if it was refused unsent
	 */
	<V> @Nullable RedissonCall<V> replace(RedisCommand<V> command, Object[] params, @Nullable Batch batch) {
		OperationContext context = OperationContext.get();
		String name = command.getName().toUpperCase(Locale.ROOT);
		CommandKind kind = CommandKind.of(name);
		if (context == null && (kind == CommandKind.WRITE || kind == CommandKind.SCRIPT || Refusals.mayWrite(name))) {
			this.fence.get().checkOutside(name);
		}
		if (name.equals("SCRIPT")) {
			this.fence.get().getScripts().load(encode(command, params).toBytes());
		}
		if (context == null || kind == CommandKind.CONNECTION || kind == CommandKind.END) {
			return null;
		}
		if (!context.isEnforced()) {
			observe(context, name, kind, encode(command, params), batch);
			return null;
		}
		this.fence.get().checkBeforeSending(context);
		context.meetFence();
		if (kind == CommandKind.BEGIN) {
			return null;
		}
		EncodedArguments arguments = encode(command, params);
		String remedy = Refusals.find(name, arguments);
		if (remedy == null && batch != null && !batch.endsWithin(context)) {
			remedy = Refusals.BEGUN_OUTSIDE;
		}
		if (remedy == null && batch != null && batch.isTransaction()) {
			remedy = NO_TRANSACTION;
		}
		if (remedy != null) {
			release(params);
			throw this.fence.get().unfenced(context, name, remedy);
		}
		Admission admission = this.fence.get().admission(context, 0, Admission.NO_SLOT);
		if (kind == CommandKind.READ && admission.isGranted()) {
			return null;
		}
		if (kind == CommandKind.READ && batch == null) {
			return claim(command, admission);
		}
		if (batch != null) {
			batch.claimOnce(admission);
		}
		release(params);
		return (kind == CommandKind.SCRIPT) ? script(command, name, arguments.toBytes(), admission)
				: command(command, name, arguments.toBytes(), admission);
	}

	private void observe(OperationContext context, String name, CommandKind kind, EncodedArguments arguments,
			@Nullable Batch batch) {
		String remedy = (batch != null && batch.isTransaction()) ? NO_TRANSACTION : Refusals.find(name, arguments);
		if (kind != CommandKind.BEGIN || remedy != null) {
			this.fence.get().observe(context, 0, remedy);
		}
	}

	// its reply may not be the same in Lua
	private static <V> RedissonCall<V> claim(RedisCommand<V> command, Admission admission) {
		List<Object> tail = new ArrayList<>();
		tail.add(admission.count());
		tail.addAll(admission.keys());
		admission.addTo(tail::add);
		return new RedissonCall<>(command, FenceScript.CHECK_ALONE, tail, admission);
	}

	private static <V> RedissonCall<V> command(RedisCommand<V> command, String name, List<byte[]> arguments,
			Admission admission) {
		List<Object> tail = new ArrayList<>();
		tail.add(admission.count());
		tail.addAll(admission.keys());
		tail.add(LargeCommands.shape(name));
		tail.add(name);
		tail.addAll(arguments);
		admission.addTo(tail::add);
		return new RedissonCall<>(command,
				LargeCommands.isLarge(arguments.size()) ? FenceScript.LARGE : FenceScript.COMMAND, tail, admission);
	}

	private <V> RedissonCall<V> script(RedisCommand<V> command, String name, List<byte[]> arguments,
			Admission admission) {
		UserScripts scripts = this.fence.get().getScripts();
		FenceScript script = name.startsWith("EVALSHA") ? scripts.find(arguments.get(0)) : scripts.of(arguments.get(0));
		int keys = Integer.parseInt(new String(arguments.get(1), StandardCharsets.US_ASCII));
		List<Object> tail = new ArrayList<>();
		tail.add(keys + admission.count());
		tail.addAll(arguments.subList(2, 2 + keys));
		tail.addAll(admission.keys());
		tail.addAll(arguments.subList(2 + keys, arguments.size()));
		admission.addTo(tail::add);
		return new RedissonCall<>(command, script, tail, admission);
	}

	private static EncodedArguments encode(RedisCommand<?> command, Object[] params) {
		List<byte[]> encoded = new ArrayList<>(params.length + 1);
		if (command.getSubName() != null) {
			encoded.add(bytes(command.getSubName()));
		}
		Arrays.stream(params).map(RedissonCalls::bytes).forEach(encoded::add);
		return EncodedArguments.of(encoded);
	}

	// as Redisson's own encoder does
	private static byte[] bytes(@Nullable Object param) {
		if (param instanceof byte[] bytes) {
			return bytes;
		}
		if (param instanceof ByteBuf buffer) {
			return ByteBufUtil.getBytes(buffer);
		}
		return (param != null) ? param.toString().getBytes(StandardCharsets.UTF_8) : new byte[0];
	}

	static void release(Object[] params) {
		Arrays.stream(params).forEach(ReferenceCountUtil::safeRelease);
	}

}
