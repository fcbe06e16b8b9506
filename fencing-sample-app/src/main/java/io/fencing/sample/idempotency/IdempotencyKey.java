package io.fencing.sample.idempotency;

import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.fencing.OperationIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The request header {@value #HEADER} as draft-ietf-httpapi-idempotency-key-header has
 * it: an Item of RFC 8941 whose value is a String, so it stands in double quotes. Without
 * them it is refused: taken as it is, {@code abc} and {@code "abc"} would be one key or
 * two, depending on who reads it. Parameters mean nothing in the draft and are refused as
 * well.
 */
public final class IdempotencyKey {

	/**
	 * The name of the header.
	 */
	public static final String HEADER = "Idempotency-Key";

	// what may stand between quotes; a backslash goes before quotes and backslashes only.
	// Bounded, so that a long header costs neither time nor stack
	private static final Pattern STRING = Pattern
		.compile("\"((?:[ !#-\\[\\]-~]|\\\\[\"\\\\]){1," + OperationIdentity.MAX_LENGTH + "})\"");

	private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

	private IdempotencyKey() {
	}

	/**
	 * The identity of a request: the client's key, else one that nobody else has, so that
	 * the request is not to be repeated.
	 * @param header the value of the header, {@code null} if there is none
	 * @return the identity
	 * @throws InvalidIdempotencyKeyException if the value is not that of a key
	 */
	public static String identity(@Nullable String header) {
		if (header == null) {
			return UUID.randomUUID().toString();
		}
		Matcher string = STRING.matcher(header);
		if (!string.matches()) {
			throw new InvalidIdempotencyKeyException();
		}
		String key = ESCAPE.matcher(string.group(1)).replaceAll("$1");
		if (key.isBlank()) {
			throw new InvalidIdempotencyKeyException();
		}
		return key;
	}

}
