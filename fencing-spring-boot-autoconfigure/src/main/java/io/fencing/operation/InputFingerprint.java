package io.fencing.operation;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Function;
import java.util.function.Predicate;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import org.jspecify.annotations.Nullable;

/**
 * Tells inputs apart without keeping them. With a key, the same on all nodes, nobody who
 * reads the journal can guess an input from its fingerprint. Thread-safe.
 */
public final class InputFingerprint {

	private static final String HMAC = "HmacSHA256";

	private static final HexFormat HEX = HexFormat.of();

	private static final int KEY_DIGITS = 8;

	// no JSON, so that it is the fingerprint of no input
	private static final byte[] KEY_ID = "fencing.journal.fingerprint-key".getBytes(StandardCharsets.UTF_8);

	private final Function<@Nullable Object, byte[]> writer;

	private final Predicate<Type> writable;

	private final @Nullable SecretKeySpec key;

	private final String keyId;

	/**
	 * Create an instance.
	 * @param writer writes inputs, equal ones equally
	 * @param writable whether values of a type can be written, as far as the type tells
	 * @param key the key, {@code null} for a plain hash
	 */
	public InputFingerprint(Function<@Nullable Object, byte[]> writer, Predicate<Type> writable, @Nullable String key) {
		this.writer = writer;
		this.writable = writable;
		this.key = (key != null) ? new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), HMAC) : null;
		this.keyId = HEX.formatHex(hash(KEY_ID)).substring(0, KEY_DIGITS);
	}

	boolean isKeyed() {
		return this.key != null;
	}

	/**
	 * Whether inputs of a type have fingerprints, as far as the type tells.
	 * @param type the type
	 * @return whether they have
	 */
	boolean supports(Type type) {
		return this.writable.test(type);
	}

	/**
	 * The fingerprint of an input.
	 * @param input the input
	 * @return 64 lower-case hexadecimal digits, the first {@value #KEY_DIGITS} of which
	 * tell keys apart
	 */
	String of(@Nullable Object input) {
		return this.keyId + HEX.formatHex(hash(this.writer.apply(input))).substring(KEY_DIGITS);
	}

	/**
	 * Whether two fingerprints can be compared.
	 * @param one a fingerprint
	 * @param other another one
	 * @return whether both were made with the same key, or both without
	 */
	static boolean areComparable(String one, String other) {
		return one.regionMatches(0, other, 0, KEY_DIGITS);
	}

	private byte[] hash(byte[] bytes) {
		try {
			if (this.key == null) {
				return MessageDigest.getInstance("SHA-256").digest(bytes);
			}
			Mac mac = Mac.getInstance(HMAC);
			mac.init(this.key);
			return mac.doFinal(bytes);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256 and " + HMAC, ex);
		}
	}

}
