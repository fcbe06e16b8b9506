package io.fencing.lease.redisson;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.net.ssl.SSLException;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisRedirectException;
import org.redisson.client.RedisTimeoutException;

/**
 * Says in words why Redis could not be asked. Of what the server says only its error code
 * is told: the rest may show keys and arguments.
 */
final class FailureReason {

	private static final Map<String, String> CODES = new TreeMap<>(
			Map.ofEntries(Map.entry("WRONGPASS", "Redis refuses the configured user or password"),
					Map.entry("NOAUTH", "Redis demands a password"),
					Map.entry("NOPERM", "the user has not all the rights that leases need"),
					Map.entry("LOADING", "Redis is still loading its data"),
					Map.entry("READONLY", "the server is a replica that only reads"),
					Map.entry("OOM", "Redis has no memory left"), Map.entry("MISCONF", "Redis cannot save its data"),
					Map.entry("NOREPLICAS", "Redis has too few replicas to write"),
					Map.entry("WRONGTYPE", "a key of this lease holds something else"),
					Map.entry("NOSCRIPT", "Redis keeps no scripts"), Map.entry("BUSY", "Redis is busy with a script"),
					Map.entry("MASTERDOWN", "the server has lost its master"),
					Map.entry("CLUSTERDOWN", "the cluster does not serve this resource"),
					Map.entry("TRYAGAIN", "the cluster is moving this resource")));

	private static final Pattern CODE = Pattern.compile("\\b(" + String.join("|", CODES.keySet()) + ")\\b");

	// of Redis 6.2 and of Redis 7
	private static final Pattern REFUSED_IN_SCRIPT = Pattern
		.compile("user executing the script can't|ACL failure in script");

	private static final Pattern ANY_CODE = Pattern.compile("^([A-Z]{3,20}) ");

	private static final int MAX_CAUSES = 20;

	private FailureReason() {
	}

	/**
	 * Say why.
	 * @param failure what the client threw
	 * @return a clause
	 */
	static String of(Throwable failure) {
		String reason = null;
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
			// what lies deeper tells more
			String deeper = ofOne(cause);
			reason = (deeper != null) ? deeper : reason;
			cause = cause.getCause();
		}
		return (reason != null) ? reason : "there is no connection to Redis";
	}

	private static @Nullable String ofOne(Throwable cause) {
		if (cause instanceof ForeignReplyException) {
			return "Redis gave the answer to another question";
		}
		if (cause instanceof InvalidFencedOperationException) {
			return cause.getMessage();
		}
		if (cause instanceof SSLException) {
			return "the TLS handshake failed, so the server speaks no TLS at this port or is not trusted";
		}
		if (cause instanceof RedisOutOfMemoryException) {
			return withCode("OOM");
		}
		if (cause instanceof RedisRedirectException) {
			return "Redis points to a server that cannot be reached";
		}
		if (cause instanceof RedisTimeoutException) {
			return "Redis gave no answer";
		}
		return ofMessage(cause, String.valueOf(cause.getMessage()));
	}

	private static @Nullable String ofMessage(Throwable cause, String message) {
		if (cause instanceof TimeoutException) {
			return "the server does not answer new connections; both sides must use TLS, or neither";
		}
		if (message.startsWith("Can't decode replay") || cause instanceof NumberFormatException) {
			return "the server does not answer as Redis does; it may demand TLS";
		}
		if (!(cause instanceof RedisException)) {
			return null;
		}
		if (message.startsWith("MOVED redirection loop")) {
			return "Redis points to a server that points to itself";
		}
		// the client appends the command and its arguments
		String answer = message.split("\\. channel:", 2)[0];
		if (REFUSED_IN_SCRIPT.matcher(answer).find()) {
			return withCode("NOPERM");
		}
		Matcher known = CODE.matcher(answer);
		if (known.find()) {
			return withCode(known.group());
		}
		Matcher other = ANY_CODE.matcher(answer);
		return other.find() ? "Redis answers with the error '" + other.group(1) + "'" : null;
	}

	private static String withCode(String code) {
		return CODES.get(code) + " (" + code + ")";
	}

}
