package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.fencing.FencingException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.FencedCommand.Sending;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

/**
 * Decides, where a connection dispatches a command, how it is sent: as it is, inside a
 * script, alone or with others of its pipeline, or not at all. As thread-safe as the
 * connection; a pipeline belongs to one thread.
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

	private final ConnectionLosses losses = new ConnectionLosses();

	private volatile int database;

	private volatile boolean flushedByHand;

	private volatile boolean checked;

	private volatile @Nullable Integer lossesBeforeWatch;

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
		if (route == ReadRoute.MASTER) {
			connection.addListener(this.losses);
		}
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
		IncomingCommand<K, V, T> incoming = new IncomingCommand<>(command, this.route == ReadRoute.CLUSTER);
		CommandKind kind = incoming.kind();
		if (context == null) {
			if (incoming.mayWrite()) {
				this.fence.get().checkOutside(incoming.name());
			}
			return pass(incoming, null);
		}
		if (kind == CommandKind.CONNECTION || kind == CommandKind.END) {
			return pass(incoming, context);
		}
		if (this.checked) {
			return sendChecked(incoming, context);
		}
		if (!context.isEnforced()) {
			if (kind != CommandKind.BEGIN) {
				this.observer.observe(context, incoming, this.database);
			}
			return pass(incoming, context);
		}
		check(context, captured != null);
		context.meetFence();
		return (kind == CommandKind.BEGIN) ? pass(incoming, context) : send(incoming, context,
				(this.route == ReadRoute.CLUSTER) ? tryAgain(incoming, context, captured != null) : null);
	}

	private <T> RedisCommand<K, V, T> sendChecked(IncomingCommand<K, V, T> incoming, OperationContext context) {
		Integer before = this.lossesBeforeWatch;
		// with replicas the driver does not tell that the master's connection was lost
		if (before == null || this.route != ReadRoute.MASTER) {
			throw this.fence.get().unfenced(context, incoming.name(), Refusals.FUNCTION);
		}
		BooleanSupplier lost = () -> this.losses.count() != before;
		if (lost.getAsBoolean()) {
			throw new RedisConnectionException(CheckedCommand.LOST);
		}
		return this.connection.dispatch(new CheckedCommand<>(incoming.command(), this.codec, lost));
	}

	// captured commands, as those of a cache, may come late
	private void check(OperationContext context, boolean captured) {
		if (captured) {
			this.fence.get().checkBeforeSendingLate(context);
		}
		else {
			this.fence.get().checkBeforeSending(context);
		}
	}

	private TryAgain tryAgain(IncomingCommand<K, V, ?> incoming, OperationContext context, boolean captured) {
		return new TryAgain(this.connection.getResources().eventExecutorGroup(), incoming.command(), (again) -> {
			check(context, captured);
			send(incoming, context, again);
		});
	}

	private <T> RedisCommand<K, V, T> send(IncomingCommand<K, V, T> incoming, OperationContext context,
			@Nullable TryAgain again) {
		String remedy = incoming.remedy();
		Batch batch = batch();
		if (remedy == null && batch != null && !batch.endsWithin(context)) {
			remedy = Refusals.BEGUN_OUTSIDE;
		}
		if (remedy != null) {
			throw this.fence.get().unfenced(context, incoming.name(), remedy);
		}
		if (incoming.isKeyless()) {
			return this.connection.dispatch(incoming.command());
		}
		Admission admission = this.fence.get().admission(context, this.database, incoming.slot());
		boolean plain = incoming.kind() == CommandKind.READ && admission.isGranted()
				&& this.route.readsMaster(this.connection);
		if (waits(incoming, plain)) {
			return incoming.command();
		}
		sendBundle();
		if (plain) {
			return this.connection.dispatch(incoming.command());
		}
		if (batch != null) {
			batch.claimOnce(admission);
		}
		if (incoming.kind() == CommandKind.SCRIPT) {
			return sendScript(incoming, admission, batch, again);
		}
		FenceScript script = this.rewriter.scriptFor(incoming.name(), incoming.args(), admission);
		return send(incoming.command(), script,
				this.rewriter.command(script, incoming.name(), incoming.args(), incoming.keys(), admission), admission,
				batch, again);
	}

	// in a pipeline, until others share its script; a read that can go plainly does where
	// it
	// overtakes nothing, since its answer may be large
	private boolean waits(IncomingCommand<K, V, ?> incoming, boolean plain) {
		Bundle<K, V> waiting = this.bundle;
		if (waiting == null || this.transaction != null || incoming.kind() == CommandKind.SCRIPT
				|| !this.rewriter.canShare(incoming.name(), incoming.args()) || (plain && waiting.isEmpty())) {
			return false;
		}
		waiting.add(incoming.name(), incoming.command());
		if (waiting.isFull()) {
			sendBundle();
		}
		return true;
	}

	private <T> RedisCommand<K, V, T> sendScript(IncomingCommand<K, V, T> incoming, Admission admission,
			@Nullable Batch batch, @Nullable TryAgain again) {
		RedisCommand<K, V, T> command = incoming.command();
		List<byte[]> arguments = incoming.arguments();
		if (!CommandRewriter.isSound(arguments)) {
			// the server runs nothing, and says why
			return this.connection.dispatch(command);
		}
		FenceScript script = incoming.name().startsWith("EVALSHA")
				? this.fence.get().getScripts().find(arguments.get(0))
				: this.fence.get().getScripts().of(arguments.get(0));
		if (script == null && batch != null) {
			throw this.fence.get()
				.unfenced(admission.getContext(), incoming.name(),
						"its source is not known here, and a pipeline or transaction cannot send it again; use EVAL");
		}
		if (script == null) {
			// as a server that has forgotten it: the caller sends the source
			command.completeExceptionally(new RedisNoScriptException("NOSCRIPT No matching script. Please use EVAL."));
			return command;
		}
		if (Refusals.selectsDatabase(script.text())) {
			throw this.fence.get().unfenced(admission.getContext(), incoming.name(), Refusals.OTHER_DATABASE);
		}
		return send(command, script, this.rewriter.script(arguments, admission), admission, batch, again);
	}

	private <T> RedisCommand<K, V, T> send(RedisCommand<K, V, T> command, FenceScript script, CommandArgs<K, V> tail,
			Admission admission, @Nullable Batch batch, @Nullable TryAgain again) {
		boolean text = this.flushedByHand || (batch != null && batch.needsText(script));
		boolean queued = batch != null && batch.isTransaction();
		boolean repeatable = batch == null && !this.flushedByHand;
		FencedCommand<K, V, T> fenced = new FencedCommand<>(command, admission, script, tail, new Sending<>(this.codec,
				text, queued, this.connection::dispatch, repeatable ? again : null, this.refusal::set));
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

	private <T> RedisCommand<K, V, T> pass(IncomingCommand<K, V, T> incoming, @Nullable OperationContext context) {
		sendBundle();
		RedisCommand<K, V, T> command = incoming.command();
		switch (incoming.name()) {
			case "WATCH" -> {
				this.lossesBeforeWatch = this.losses.count();
			}
			case "UNWATCH" -> {
				this.lossesBeforeWatch = null;
			}
			case "MULTI" -> {
				this.refusal.set(null);
				this.transaction = new Batch(context, true);
			}
			case "EXEC" -> {
				this.lossesBeforeWatch = null;
				Batch ran = this.transaction;
				this.transaction = null;
				return this.connection.dispatch((ran != null) ? new Exec<>(command, ran) : command);
			}
			case "DISCARD" -> {
				this.lossesBeforeWatch = null;
				this.transaction = null;
			}
			case "SELECT" -> {
				this.database = selected(incoming);
			}
			case "SCRIPT" -> this.fence.get().getScripts().load(incoming.arguments());
			default -> {
			}
		}
		return this.connection.dispatch(command);
	}

	// by a number of the driver's or by the caller's own bytes
	private int selected(IncomingCommand<K, V, ?> incoming) {
		List<byte[]> arguments = incoming.arguments();
		String first = arguments.isEmpty() ? "" : new String(arguments.get(0), StandardCharsets.US_ASCII);
		return first.matches("[0-9]{1,9}") ? Integer.parseInt(first) : this.database;
	}

	private @Nullable Batch batch() {
		return (this.transaction != null) ? this.transaction : this.pipeline;
	}

	/**
	 * Where its commands work.
	 * @return the database that it is in
	 */
	int getDatabase() {
		return this.database;
	}

	/**
	 * Whether commands wait until they are flushed, so that none can be sent again.
	 * @param flushedByHand whether they do
	 */
	void setFlushedByHand(boolean flushedByHand) {
		this.flushedByHand = flushedByHand;
	}

	/**
	 * Commands from now on run in a transaction that ends if a guard changes.
	 * @param checked whether they do
	 */
	void setChecked(boolean checked) {
		this.checked = checked;
	}

	/**
	 * Commands from now on are answered together.
	 * @param oneByOne whether each is sent at once, since somebody may wait for it
	 */
	void beginPipeline(boolean oneByOne) {
		this.refusal.set(null);
		this.pipeline = new Batch(OperationContext.get(), false);
		// in a cluster, commands that follow each other rarely share a slot
		this.bundle = (oneByOne || this.route == ReadRoute.CLUSTER) ? null : new Bundle<>(this.codec);
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
		this.bundle = new Bundle<>(this.codec);
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
		this.connection.dispatch(new BundledCommands<>(this.codec, waiting.getCommands(),
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
