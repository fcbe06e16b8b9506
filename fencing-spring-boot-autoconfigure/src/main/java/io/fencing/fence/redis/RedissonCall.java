package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.fencing.FencingException;
import org.jspecify.annotations.Nullable;
import org.redisson.client.protocol.RedisCommand;

/**
 * A command of Redisson that travels inside a script and keeps its own decoder.
 * Immutable.
 *
 * @param <V> the type of the result
 * @param original the command that the caller waits for
 * @param script the script that it travels in, {@code null} if the server alone knows it
 * @param tail what comes after the script: the number of keys, the keys, the arguments
 * @param admission what it must show
 */
record RedissonCall<V>(RedisCommand<V> original, @Nullable FenceScript script, List<Object> tail, Admission admission) {

	/**
	 * Whether the command itself is sent after this call, as it is.
	 * @return whether this call only claims
	 */
	boolean onlyClaims() {
		return this.script == FenceScript.CHECK_ALONE;
	}

	/**
	 * Whether the command must not be sent again when no answer comes, which Redisson
	 * knows by its name.
	 * @param noRetry what the caller wants
	 * @return whether it is sent once
	 */
	boolean noRetry(boolean noRetry) {
		return noRetry || this.original.isNoRetry();
	}

	/**
	 * The command to send.
	 * @param text whether the script is sent as text rather than by its name
	 * @return the command
	 */
	RedisCommand<V> command(boolean text) {
		// in lower case, since batches would replace EVAL by a name that may be forgotten
		String name = text ? "eval" : "evalsha";
		return onlyClaims() ? new RedisCommand<>(name)
				: new RedisCommand<>(name, this.original.getReplayMultiDecoder(), this.original.getConvertor());
	}

	/**
	 * The parameters to send.
	 * @param text whether the script is sent as text rather than by its name
	 * @return the parameters
	 */
	Object[] params(boolean text) {
		FenceScript sent = this.script;
		if (sent == null) {
			throw new IllegalStateException("The source of the script is not known");
		}
		List<Object> params = new ArrayList<>(this.tail.size() + 1);
		params.add(text ? sent.text() : new String(sent.sha(), StandardCharsets.US_ASCII));
		params.addAll(this.tail);
		return params.toArray();
	}

	/**
	 * Note what was answered.
	 * @param failure the failure, {@code null} if there was none
	 * @return the refusal that the failure stands for, {@code null} if it is none
	 */
	@Nullable FencingException answered(@Nullable Throwable failure) {
		if (failure == null) {
			this.admission.grant();
			return null;
		}
		return this.admission.refusal(failure.getMessage());
	}

	/**
	 * Whether the server has forgotten the script.
	 * @param failure what it answered, {@code null} if it answered with a result
	 * @return whether it must be sent as text
	 */
	static boolean isForgotten(@Nullable Throwable failure) {
		return failure != null && failure.getMessage() != null && failure.getMessage().startsWith("NOSCRIPT");
	}

}
