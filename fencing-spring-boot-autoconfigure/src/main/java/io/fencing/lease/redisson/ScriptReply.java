package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

import io.fencing.lease.LeaseAnswer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of the scripts, strictly: whatever is not exactly what a script
 * answers is not understood, and so never a grant.
 */
final class ScriptReply {

	private static final String TICKET = "ticket:";

	private static final long NO = 0;

	private static final long YES = 1;

	private static final long TOKEN_LIMIT = 1L << 53;

	// at most 16 digits, so that it fits a long
	private static final Pattern TOKEN = Pattern.compile("[1-9][0-9]{0,15}");

	private ScriptReply() {
	}

	/**
	 * A ticket for one call.
	 * @return a text that no other call has
	 */
	static String newTicket() {
		return TICKET + Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), Character.MAX_RADIX);
	}

	/**
	 * What a reply says to the call with this ticket.
	 * @param reply the reply
	 * @param ticket the ticket
	 * @return its parts without the ticket, {@code null} if there is none
	 * @throws ForeignReplyException if it bears the ticket of another call
	 */
	static @Nullable List<?> withoutTicket(@Nullable Object reply, String ticket) {
		if (!(reply instanceof List<?> parts) || parts.isEmpty()) {
			return null;
		}
		Object last = parts.get(parts.size() - 1);
		if (ticket.equals(last)) {
			return parts.subList(0, parts.size() - 1);
		}
		if (last instanceof String text && text.startsWith(TICKET)) {
			throw new ForeignReplyException();
		}
		return null;
	}

	/**
	 * Read a reply of the acquire script.
	 * @param reply the reply
	 * @return what it says, {@code null} if it is not understood
	 */
	static @Nullable LeaseAnswer answer(@Nullable Object reply) {
		if (!(reply instanceof List<?> parts) || parts.size() != 2) {
			return null;
		}
		if (isCode(parts.get(0), YES) && parts.get(1) instanceof String text && TOKEN.matcher(text).matches()) {
			long token = Long.parseLong(text);
			return (token < TOKEN_LIMIT) ? new LeaseAnswer.Granted(token) : null;
		}
		if (isCode(parts.get(0), NO) && parts.get(1) instanceof Long remaining && remaining >= 0) {
			return new LeaseAnswer.Busy(Duration.ofMillis(remaining));
		}
		return null;
	}

	/**
	 * Read a reply that is yes or no.
	 * @param reply the reply
	 * @return what it says, {@code null} if it is not understood
	 */
	static @Nullable Boolean flag(@Nullable Object reply) {
		if (!(reply instanceof List<?> parts) || parts.size() != 1) {
			return null;
		}
		if (isCode(parts.get(0), YES)) {
			return Boolean.TRUE;
		}
		return isCode(parts.get(0), NO) ? Boolean.FALSE : null;
	}

	private static boolean isCode(@Nullable Object part, long code) {
		return part instanceof Long number && number == code;
	}

}
