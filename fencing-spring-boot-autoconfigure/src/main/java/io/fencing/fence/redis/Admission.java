package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.redis.Admitted.Guard;
import org.jspecify.annotations.Nullable;

/**
 * What one command must show at the guards of everything that its operation holds, and
 * what it was answered. A guard that has not yet been seen to show the operation's token
 * is claimed; one that has must show it, and is never raised again. Thread-safe.
 */
final class Admission {

	/**
	 * Where there are no slots.
	 */
	static final int NO_SLOT = -1;

	// with the reason, which of the guards, and what it shows: token:owner or a time
	private static final Pattern REFUSED = Pattern.compile("FENCED (OTHER|STALE|EXPIRED) ([0-9]{1,6})(?: (.*))?",
			Pattern.DOTALL);

	private final RedisFence fence;

	private final OperationContext context;

	private final List<HeldResource> held;

	private final List<Guard> guards;

	private final List<byte[]> keys;

	private final List<byte[]> tokens;

	private final Admitted admitted;

	private final boolean claiming;

	private boolean claimedBefore;

	private final long started = System.nanoTime();

	Admission(RedisFence fence, OperationContext context, List<HeldResource> held, Admitted admitted, int database,
			int slot) {
		this.fence = fence;
		this.context = context;
		this.held = held;
		this.admitted = admitted;
		this.guards = new ArrayList<>(held.size());
		this.keys = new ArrayList<>(held.size());
		this.tokens = new ArrayList<>(held.size());
		for (HeldResource one : held) {
			this.guards.add(new Guard(one.getResource().getKey(), one.getToken(), database, slot));
			this.keys.add((slot != NO_SLOT) ? fence.getKeys().guard(one.getResource(), slot)
					: fence.getKeys().guard(one.getResource()));
			this.tokens.add(bytes(one.getToken()));
		}
		this.claiming = !this.guards.stream().allMatch(admitted::contains);
	}

	/**
	 * Whether all guards are known to have shown the token.
	 * @return whether a read needs no check
	 */
	boolean isGranted() {
		return !this.claiming;
	}

	OperationContext getContext() {
		return this.context;
	}

	/**
	 * How many guards there are.
	 * @return the number
	 */
	int count() {
		return this.held.size();
	}

	/**
	 * The guards.
	 * @return their keys, in the order of resources
	 */
	List<byte[]> keys() {
		return this.keys;
	}

	/**
	 * The same guards were claimed on the same connection just before, and nothing can
	 * overtake that.
	 */
	void follow() {
		this.claimedBefore = this.claiming;
	}

	List<Guard> getGuards() {
		return this.guards;
	}

	/**
	 * Whether there is one guard, which must show the token already.
	 * @return whether the short form of the check will do
	 */
	boolean isShort() {
		return this.held.size() == 1 && (this.claimedBefore || !this.claiming);
	}

	/**
	 * Add what {@code equal.lua} expects at the end of the arguments.
	 * @param args takes each argument
	 */
	void addTokenTo(Consumer<byte[]> args) {
		args.accept(this.tokens.get(0));
	}

	private static byte[] bytes(FencingToken token) {
		return bytes(token.value() + ":" + token.owner());
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Add what {@code check.lua} expects at the end of the arguments.
	 * @param args takes each argument
	 */
	void addTo(Consumer<byte[]> args) {
		for (int i = 0; i < this.held.size(); i++) {
			boolean equal = this.claimedBefore || this.admitted.contains(this.guards.get(i));
			args.accept(this.tokens.get(i));
			args.accept(bytes(equal ? "equal" : "claim"));
		}
		args.accept(bytes(Long.toString(this.fence.getRetention().toMillis())));
		args.accept(bytes(Integer.toString(this.held.size())));
	}

	/**
	 * All guards have shown the token.
	 */
	void grant() {
		if (this.claiming) {
			boolean news = false;
			for (Guard guard : this.guards) {
				news |= this.admitted.add(guard);
			}
			if (news) {
				this.fence.admitted(this.context, Duration.ofNanos(System.nanoTime() - this.started));
			}
		}
	}

	/**
	 * Whether an error of the script is a refusal.
	 * @param error the error
	 * @return whether it is
	 */
	static boolean isRefusal(@Nullable String error) {
		return error != null && REFUSED.matcher(error).matches();
	}

	/**
	 * Record the refusal that an error of the script stands for.
	 * @param error the error
	 * @return the refusal, {@code null} if the error is another one
	 */
	@Nullable FencingException refusal(@Nullable String error) {
		Matcher matcher = (error != null) ? REFUSED.matcher(error) : null;
		// a user's script may say anything
		if (matcher == null || !matcher.matches() || Integer.parseInt(matcher.group(2)) > this.held.size()) {
			return null;
		}
		HeldResource one = this.held.get(Integer.parseInt(matcher.group(2)) - 1);
		FencingException known = this.context.getRefusal();
		if (known instanceof StaleTokenException && known.concerns(one.getResource())) {
			return known;
		}
		Long shown = (matcher.group(3) != null) ? token(matcher.group(3)) : null;
		RejectionReason reason = reason(matcher.group(1), one, shown);
		this.fence.rejected(this.context, reason);
		return this.context
			.refuse(new StaleTokenException(this.context.getOperation(), one, this.fence.getStorage(), reason, shown));
	}

	private static @Nullable Long token(String shown) {
		String digits = shown.split(":", 2)[0];
		return digits.matches("[0-9]{1,18}") ? Long.valueOf(digits) : null;
	}

	private static RejectionReason reason(String word, HeldResource held, @Nullable Long shown) {
		if (word.equals("EXPIRED")) {
			return RejectionReason.EXPIRED;
		}
		boolean behind = word.equals("OTHER") && (shown == null || shown < held.getToken().value());
		return behind ? RejectionReason.MISSING : RejectionReason.STALE;
	}

}
