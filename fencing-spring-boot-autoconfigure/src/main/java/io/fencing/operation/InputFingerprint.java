package io.fencing.operation;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Function;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import org.jspecify.annotations.Nullable;

/**
 * Tells inputs apart without keeping them. With a key, the same on all nodes, nobody who
 * reads the journal can guess an input from its fingerprint. Thread-safe.
 */
public final class InputFingerprint {

	private static final String HMAC = "HmacSHA256";

	private final Function<@Nullable Object, byte[]> writer;

	private final @Nullable SecretKeySpec key;

	/**
	 * Create an instance.
	 * @param writer writes inputs, equal ones equally
	 * @param key the key, {@code null} for a plain hash
	 */
	public InputFingerprint(Function<@Nullable Object, byte[]> writer, @Nullable String key) {
		this.writer = writer;
		this.key = (key != null) ? new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), HMAC) : null;
	}

	/**
	 * The fingerprint of an input.
	 * @param input the input
	 * @return 64 lower-case hexadecimal digits
	 */
	String of(@Nullable Object input) {
		byte[] bytes = this.writer.apply(input);
		try {
			if (this.key == null) {
				return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
			}
			Mac mac = Mac.getInstance(HMAC);
			mac.init(this.key);
			return HexFormat.of().formatHex(mac.doFinal(bytes));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256 and " + HMAC, ex);
		}
	}

}
