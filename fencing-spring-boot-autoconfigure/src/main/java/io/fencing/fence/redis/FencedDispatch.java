package io.fencing.fence.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedCommand.Sending;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandArgsAccessor;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

/**
 * Decides, where a connection dispatches a command, how it is sent: as it is, inside the
 * script, or not at all. As thread-safe as the connection.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 */
final class FencedDispatch<K, V> {

	private final Supplier<RedisFence> fence;

	private final StatefulConnection<K, V> connection;

	private final RedisCodec<K, V> codec;

	private final ReadRoute route;

	private final CommandRewriter<K, V> rewriter;

	private final FenceObserver<K, V> observer;

	private final AtomicReference<@Nullable FencingException> refusal = new AtomicReference<>();

	private volatile int database;

	private volatile boolean flushedByHand;

	private volatile @Nullable Batch pipeline;

	private volatile @Nullable Batch transaction;

	private volatile @Nullable Bundle<K, V> bundle;

	/**
	 * Create a dispatch.
	 * @param fence gives the fence; called at the first command that needs it
	 * @param connection the connection of the driver
	 * @param codec encodes its keys
	 * @param database the database that it is in
	 * @param route where its commands go
	 * @param observer looks at commands of operations that are only observed
	 */
	FencedDispatch(Supplier<RedisFence> fence, StatefulConnection<K, V> connection, RedisCodec<K, V> codec,
			int database, ReadRoute route, FenceObserver<K, V> observer) {
		this.fence = fence;
		this.connection = connection;
		this.codec = codec;
		this.database = database;
		this.route = route;
		this.observer = observer;
		this.rewriter = new CommandRewriter<>(codec,
				connection.getOptions().getConfiguredProtocolVersion() != ProtocolVersion.RESP2);
	}

	RedisCodec<K, V> getCodec() {
		return this.codec;
	}

	/**
	 * Send a command.
	 * @param command the command
	 * @param captured the operation that it belongs to, {@code null} for that of the
	 * thread
	 * @param <T> the type of the result
	 * @return what the driver answers
	 * @throws FencingException if it was refused unsent
	 */
	<T> RedisCommand<K, V, T> dispatch(RedisCommand<K, V, T> command, @Nullable OperationContext captured) {
		OperationContext context = (captured != null) ? captured : OperationContext.get();
		String name = command.getType().toString().toUpperCase(Locale.ROOT);
		CommandKind kind = CommandKind.of(name);
		if (context == null && (kind == CommandKind.WRITE || kind == CommandKind.SCRIPT || Refusals.mayWrite(name))) {
			this.fence.get().checkOutside(name);
		}
		boolean passes = kind == CommandKind.CONNECTION || kind == CommandKind.END;
		if (context != null && !context.isEnforced() && !passes && kind != CommandKind.BEGIN) {
			observe(command, name, kind, context);
		}
		if (context == null || !context.isEnforced() || passes) {
			return pass(command, name, context);
		}
		this.fence.get().checkBeforeSending(context);
		context.meetFence();
		if (kind == CommandKind.BEGIN) {
			return pass(command, name, context);
		}
		return send(command, name, kind, context);
	}

	private void observe(RedisCommand<K, V, ?> command, String name, CommandKind kind, OperationContext context) {
		EncodedArguments arguments = new EncodedArguments(command.getArgs());
		int slot = (this.route == ReadRoute.CLUSTER) ? slot(command, kind, arguments) : Admission.NO_SLOT;
		String remedy = remedy(name, kind, arguments, slot);
		if (remedy != null || !isKeyless(slot)) {
			this.observer.observe(context, remedy, this.database, slot);
		}
	}

	private @Nullable String remedy(String name, CommandKind kind, EncodedArguments arguments, int slot) {
		String remedy = Refusals.find(name, arguments);
		if (remedy == null && isKeyless(slot) && kind != CommandKind.READ) {
			return "it has no key, so no slot of the cluster can check it; call it outside of the operation";
		}
		return remedy;
	}

	private boolean isKeyless(int slot) {
		return this.route == ReadRoute.CLUSTER && slot == Admission.NO_SLOT;
	}

	private <T> RedisCommand<K, V, T> send(RedisCommand<K, V, T> command, String name, CommandKind kind,
			OperationContext context) {
		EncodedArguments arguments = new EncodedArguments(command.getArgs());
		int slot = (this.route == ReadRoute.CLUSTER) ? slot(command, kind, arguments) : Admission.NO_SLOT;
		String remedy = remedy(name, kind, arguments, slot);
		Batch batch = batch();
		if (remedy == null && batch != null && !batch.endsWithin(context)) {
			remedy = "its pipeline or transaction was begun outside of the operation and ends after it; begin it inside";
		}
		if (remedy != null) {
			throw this.fence.get().unfenced(context, name, remedy);
		}
		if (isKeyless(slot)) {
			return this.connection.dispatch(command);
		}
		Bundle<K, V> waiting = this.bundle;
		if (waiting != null && this.transaction == null && kind != CommandKind.SCRIPT
				&& this.rewriter.canShare(name, command.getArgs())) {
			waiting.add(name, command);
			if (waiting.isFull()) {
				sendBundle();
			}
			return command;
		}
		sendBundle();
		Admission admission = this.fence.get().admission(context, this.database, slot);
		if (kind == CommandKind.READ && admission.isGranted() && this.route.readsMaster(this.connection)) {
			return this.connection.dispatch(command);
		}
		if (batch != null) {
			batch.claimOnce(admission);
		}
		if (kind == CommandKind.SCRIPT) {
			return sendScript(command, name, arguments.toBytes(), admission, batch);
		}
		FenceScript script = this.rewriter.scriptFor(name, command.getArgs(), admission);
		return send(command, script, this.rewriter.command(script, name, command.getArgs(), admission), admission,
				batch);
	}

	private <T> RedisCommand<K, V, T> sendScript(RedisCommand<K, V, T> command, String name, List<byte[]> arguments,
			Admission admission, @Nullable Batch batch) {
		FenceScript script = name.startsWith("EVALSHA") ? this.fence.get().getScripts().find(arguments.get(0))
				: this.fence.get().getScripts().of(arguments.get(0));
		if (script == null && batch != null) {
			throw this.fence.get()
				.unfenced(admission.getContext(), name,
						"its source is not known here, and a pipeline or transaction cannot send it again; use EVAL");
		}
		if (script == null) {
			// as a server that has forgotten it: the caller sends the source
			command.completeExceptionally(new RedisNoScriptException("NOSCRIPT No matching script. Please use EVAL."));
			return command;
		}
		return send(command, script, this.rewriter.script(arguments, admission), admission, batch);
	}

	private <T> RedisCommand<K, V, T> send(RedisCommand<K, V, T> command, FenceScript script, CommandArgs<K, V> tail,
			Admission admission, @Nullable Batch batch) {
		boolean text = this.flushedByHand || (batch != null && batch.needsText(script));
		boolean queued = batch != null && batch.isTransaction();
		FencedCommand<K, V, T> fenced = new FencedCommand<>(command, admission, script, tail,
				new Sending<>(this.codec, text, queued, this.connection::dispatch, this.refusal::set));
		if (batch != null) {
			batch.add(fenced);
		}
		return answer(command, this.connection.dispatch(fenced));
	}

	// a transaction answers with a future of its own, else the caller's stays
	private static <K, V, T> RedisCommand<K, V, T> answer(RedisCommand<K, V, T> command,
			RedisCommand<K, V, T> dispatched) {
		return (dispatched instanceof FencedCommand) ? command : dispatched;
	}

	private <T> RedisCommand<K, V, T> pass(RedisCommand<K, V, T> command, String name,
			@Nullable OperationContext context) {
		sendBundle();
		switch (name) {
			case "MULTI" -> {
				this.refusal.set(null);
				this.transaction = new Batch(context, true);
			}
			case "EXEC" -> {
				Batch ran = this.transaction;
				this.transaction = null;
				return this.connection.dispatch((ran != null) ? new Exec<>(command, ran) : command);
			}
			case "DISCARD" -> {
				this.transaction = null;
			}
			case "SELECT" -> {
				Long selected = CommandArgsAccessor.getFirstInteger(command.getArgs());
				this.database = (selected != null) ? selected.intValue() : this.database;
			}
			case "SCRIPT" -> rememberSource(new EncodedArguments(command.getArgs()).toBytes());
			default -> {
			}
		}
		return this.connection.dispatch(command);
	}

	// a script that is loaded may be called by its name later
	private void rememberSource(List<byte[]> arguments) {
		if (arguments.size() == 2 && new String(arguments.get(0), StandardCharsets.US_ASCII).equalsIgnoreCase("LOAD")) {
			this.fence.get().getScripts().of(arguments.get(1));
		}
	}

	private static int slot(RedisCommand<?, ?, ?> command, CommandKind kind, EncodedArguments arguments) {
		if (kind == CommandKind.SCRIPT) {
			List<byte[]> bytes = arguments.toBytes();
			boolean hasKey = bytes.size() > 2 && !"0".equals(new String(bytes.get(1), StandardCharsets.US_ASCII));
			return hasKey ? SlotHash.getSlot(bytes.get(2)) : Admission.NO_SLOT;
		}
		ByteBuffer key = (command.getArgs() != null) ? CommandArgsAccessor.encodeFirstKey(command.getArgs()) : null;
		return (key != null) ? SlotHash.getSlot(key) : Admission.NO_SLOT;
	}

	private @Nullable Batch batch() {
		return (this.transaction != null) ? this.transaction : this.pipeline;
	}

	/**
	 * Whether commands wait until they are flushed, so that none can be sent again.
	 * @param flushedByHand whether they do
	 */
	void setFlushedByHand(boolean flushedByHand) {
		this.flushedByHand = flushedByHand;
	}

	/**
	 * Commands from now on are answered together.
	 * @param oneByOne whether each is sent at once, since somebody may wait for it
	 */
	void beginPipeline(boolean oneByOne) {
		this.refusal.set(null);
		this.pipeline = new Batch(OperationContext.get(), false);
		// in a cluster, commands that follow each other rarely share a slot
		this.bundle = (oneByOne || this.route == ReadRoute.CLUSTER) ? null : new Bundle<>(this.connection.getCodec());
	}

	/**
	 * From here on, somebody may wait for a single answer before the pipeline ends.
	 */
	void sendOneByOne() {
		sendBundle();
		this.bundle = null;
	}

	/**
	 * Send the commands that wait, if there are any. Their futures tell what becomes of
	 * them.
	 */
	void sendBundle() {
		Bundle<K, V> waiting = this.bundle;
		Batch batch = this.pipeline;
		if (waiting == null || waiting.isEmpty() || batch == null || batch.getContext() == null) {
			return;
		}
		this.bundle = new Bundle<>(this.connection.getCodec());
		try {
			this.fence.get().checkBeforeSending(batch.getContext());
		}
		catch (FencingException ex) {
			this.refusal.set(ex);
			waiting.getCommands().forEach((command) -> command.completeExceptionally(ex));
			return;
		}
		Admission admission = this.fence.get().admission(batch.getContext(), this.database, Admission.NO_SLOT);
		batch.claimOnce(admission);
		this.connection.dispatch(new BundledCommands<>(this.connection.getCodec(), waiting.getCommands(),
				this.rewriter.bundle(waiting, admission), admission, this.refusal::set));
	}

	/**
	 * Commands from now on are answered one by one.
	 */
	void endPipeline() {
		sendOneByOne();
		this.pipeline = null;
	}

	/**
	 * The last refusal in a pipeline or transaction, told once.
	 * @return the refusal, {@code null} if nothing was refused
	 */
	@Nullable FencingException takeRefusal() {
		return this.refusal.getAndSet(null);
	}

}
