package io.fencing.fence.redis;

import java.util.function.Consumer;

import io.fencing.FencingException;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A command that travels inside a script and keeps its own output. Completed by the
 * driver, on its thread.
 *
 * @param <K> the type of keys
 * @param <V> the type of values
 * @param <T> the type of the result
 */
final class FencedCommand<K, V, T> extends CommandWrapper<K, V, T> {

	// what a script is told where the command alone is told NOPERM
	private static final String NO_PERMISSION = "The user executing the script can't";

	private final Admission admission;

	private final FenceScript script;

	private final CommandArgs<K, V> tail;

	private final Command<K, V, T> sent;

	private final Sending<K, V> sending;

	/**
	 * Create a command.
	 * @param command the command that the caller waits for
	 * @param admission what it must show
	 * @param script the script that it travels in
	 * @param tail what comes after the script: the number of keys, the keys, the
	 * arguments
	 * @param sending how it is sent
	 */
	FencedCommand(RedisCommand<K, V, T> command, Admission admission, FenceScript script, CommandArgs<K, V> tail,
			Sending<K, V> sending) {
		super(command);
		this.admission = admission;
		this.script = script;
		this.tail = tail;
		this.sending = sending;
		boolean text = sending.text();
		this.sent = new Command<>(text ? CommandType.EVAL : CommandType.EVALSHA, command.getOutput(),
				new CommandArgs<>(sending.codec()).add(text ? script.text() : script.sha()).addAll(tail));
	}

	@Override
	public ProtocolKeyword getType() {
		return this.sent.getType();
	}

	@Override
	public CommandArgs<K, V> getArgs() {
		return this.sent.getArgs();
	}

	@Override
	public void encode(ByteBuf buf) {
		this.sent.encode(buf);
	}

	@Override
	public void complete() {
		CommandOutput<K, V, T> output = getOutput();
		String error = (output != null && output.hasError()) ? output.getError() : null;
		if (error != null && error.startsWith("NOSCRIPT") && !this.sending.text() && !isDone()) {
			output.setError((String) null);
			this.sending.again(
					new FencedCommand<>(this.command, this.admission, this.script, this.tail, this.sending.asText()));
			return;
		}
		if (error != null && error.startsWith("TRYAGAIN") && this.sending.later()) {
			return;
		}
		FencingException refusal = this.admission.refusal(error);
		if (refusal != null) {
			this.sending.onRefusal().accept(refusal);
			completeExceptionally(refusal);
			return;
		}
		setError(output, error);
		if (error == null && !this.sending.queued()) {
			this.admission.grant();
		}
		super.complete();
	}

	/**
	 * Let a command fail as it does outside of a script.
	 * @param output its output
	 * @param error the error of the script, {@code null} for none
	 */
	static void setError(@Nullable CommandOutput<?, ?, ?> output, @Nullable String error) {
		String all = (error == null && output != null) ? output.getError() : error;
		if (output != null && all != null) {
			output.setError(all.startsWith(NO_PERMISSION) ? "NOPERM " + all : all);
		}
	}

	/**
	 * The transaction that the command was queued in has run.
	 */
	void ran() {
		CommandOutput<K, V, T> output = getOutput();
		if (output != null && !output.hasError()) {
			this.admission.grant();
		}
	}

	/**
	 * How a command is sent.
	 *
	 * @param <K> the type of keys
	 * @param <V> the type of values
	 * @param codec encodes its arguments
	 * @param text whether the script is sent as text rather than by its name
	 * @param queued whether it is queued in a transaction, so that an answer comes late
	 * or never
	 * @param resend sends a command once more
	 * @param tryAgain sends it later, if that can be done
	 * @param onRefusal told of a refusal
	 */
	record Sending<K, V>(RedisCodec<K, V> codec, boolean text, boolean queued, Consumer<RedisCommand<K, V, ?>> resend,
			@Nullable TryAgain tryAgain, Consumer<FencingException> onRefusal) {

		void again(RedisCommand<K, V, ?> command) {
			this.resend.accept(command);
		}

		boolean later() {
			return this.tryAgain != null && this.tryAgain.later();
		}

		Sending<K, V> asText() {
			return new Sending<>(this.codec, true, this.queued, this.resend, this.tryAgain, this.onRefusal);
		}

	}

}
