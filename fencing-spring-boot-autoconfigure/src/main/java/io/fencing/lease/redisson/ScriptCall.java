package io.fencing.lease.redisson;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.codec.StringCodec;

/**
 * One run of a script on the master of its keys, as plain text whatever codec the client
 * has. Immutable.
 *
 * <p>
 * It goes by {@code EVALSHA} and loads the script itself where Redis has forgotten it:
 * Redisson's own way of doing this hides the command from cancellation, so that it would
 * be sent again long after the caller has given up. That way remains for a slot that has
 * just moved: only the call is redirected to its new master, what is loaded goes to the
 * old one.
 *
 * @param script the script
 * @param keys its keys, all in one slot
 * @param arguments its arguments
 * @param ticket goes along as the last argument and comes back at the end of the reply,
 * so that the reply to another call is never taken for the one to this
 */
record ScriptCall(LuaScript script, List<String> keys, List<String> arguments, String ticket) {

	/**
	 * Create a call with a ticket of its own.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 */
	ScriptCall(LuaScript script, List<String> keys, List<String> arguments) {
		this(script, keys, arguments, ScriptReply.newTicket());
	}

	/**
	 * Run it.
	 * @param client the client
	 * @return the reply to come; cancelling it keeps what was not sent from being sent
	 */
	CompletableFuture<@Nullable Object> run(RedissonClient client) {
		CompletableFuture<@Nullable Object> reply = new CompletableFuture<>();
		run(client, reply);
		return reply;
	}

	/**
	 * Run it.
	 * @param client the client
	 * @param reply takes the reply; cancelling it keeps what was not sent from being sent
	 */
	void run(RedissonClient client, CompletableFuture<@Nullable Object> reply) {
		send(client.getScript(StringCodec.INSTANCE), reply, this::load);
	}

	private void send(RScript redis, CompletableFuture<@Nullable Object> reply,
			BiConsumer<RScript, CompletableFuture<@Nullable Object>> whenForgotten) {
		deliver(evaluate(redis), redis, reply, whenForgotten);
	}

	private void deliver(RFuture<@Nullable Object> sent, RScript redis, CompletableFuture<@Nullable Object> reply,
			@Nullable BiConsumer<RScript, CompletableFuture<@Nullable Object>> whenForgotten) {
		CompletionStage<@Nullable Object> ended = reply;
		ended.whenComplete((ignored, failure) -> sent.cancel(false));
		sent.whenComplete((result, failure) -> {
			if (failure == null) {
				answer(reply, result);
			}
			else if (whenForgotten != null && isForgotten(failure) && !reply.isDone()) {
				whenForgotten.accept(redis, reply);
			}
			else {
				reply.completeExceptionally(failure);
			}
		});
	}

	private void answer(CompletableFuture<@Nullable Object> reply, @Nullable Object result) {
		try {
			reply.complete(ScriptReply.withoutTicket(result, this.ticket));
		}
		catch (ForeignReplyException ex) {
			reply.completeExceptionally(ex);
		}
	}

	private void load(RScript redis, CompletableFuture<@Nullable Object> reply) {
		redis.scriptLoadAsync(this.keys.get(0), this.script.text()).whenComplete((sha, failure) -> {
			if (failure != null) {
				reply.completeExceptionally(failure);
			}
			else if (!reply.isDone()) {
				send(redis, reply, this::sendSource);
			}
		});
	}

	private void sendSource(RScript redis, CompletableFuture<@Nullable Object> reply) {
		deliver(evaluateSource(redis), redis, reply, null);
	}

	/**
	 * Add it to a pipeline, with its source: an error of one call, such as a forgotten
	 * script, would leave others of the pipeline without a reply.
	 * @param pipeline the pipeline
	 * @param reply takes the reply, if one comes that is understood
	 */
	void addTo(RScriptAsync pipeline, CompletableFuture<@Nullable Object> reply) {
		evaluateSource(pipeline).thenAccept((result) -> {
			List<?> own = ScriptReply.withoutTicket(result, this.ticket);
			if (own != null) {
				reply.complete(own);
			}
		});
	}

	private RFuture<@Nullable Object> evaluateSource(RScriptAsync redis) {
		return redis.evalAsync(this.keys.get(0), RScript.Mode.READ_WRITE, this.script.text(), RScript.ReturnType.LIST,
				List.copyOf(this.keys), values());
	}

	private RFuture<@Nullable Object> evaluate(RScriptAsync redis) {
		return redis.evalShaAsync(this.keys.get(0), RScript.Mode.READ_WRITE, this.script.sha(), RScript.ReturnType.LIST,
				List.copyOf(this.keys), values());
	}

	private Object[] values() {
		List<String> values = new ArrayList<>(this.arguments);
		values.add(this.ticket);
		return values.toArray();
	}

	private static boolean isForgotten(Throwable failure) {
		Throwable cause = (failure instanceof CompletionException wrapper && wrapper.getCause() != null)
				? wrapper.getCause() : failure;
		return cause instanceof RedisNoScriptException;
	}

}
