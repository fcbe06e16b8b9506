package io.fencing;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Makes {@link FencedResource}s: hashes their names for storage and fingerprints them for
 * people. Thread-safe.
 */
public final class FencedResourceFactory {

	private static final int FINGERPRINT_BYTES = 5;

	private static final HexFormat HEX = HexFormat.of();

	private final String namespace;

	private final @Nullable SecretKeySpec fingerprintKey;

	/**
	 * Create a factory.
	 * @param namespace the namespace of all resources made; two applications that protect
	 * the same data must use the same one
	 * @param fingerprintKey the secret that fingerprints are keyed with, or {@code null}
	 * to show the raw names
	 */
	public FencedResourceFactory(String namespace, @Nullable String fingerprintKey) {
		Assert.hasText(namespace, "'namespace' must not be blank");
		this.namespace = namespace;
		this.fingerprintKey = (fingerprintKey != null)
				? new SecretKeySpec(fingerprintKey.getBytes(StandardCharsets.UTF_8), "HmacSHA256") : null;
	}

	/**
	 * Make the resource with the given name.
	 * @param name the raw text, of any length and characters, not blank
	 * @return the resource
	 * @throws IllegalArgumentException if the name is blank
	 */
	public FencedResource create(String name) {
		Assert.hasText(name, "A resource name must not be blank");
		// few resources are ever shown
		return new FencedResource(this.namespace, name, key(name), this::fingerprint);
	}

	private String key(String name) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			// the length keeps ("a", "b:c") and ("a:b", "c") apart
			digest.update((this.namespace.length() + ":" + this.namespace).getBytes(StandardCharsets.UTF_8));
			return HEX.formatHex(digest.digest(name.getBytes(StandardCharsets.UTF_8)));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

	private String fingerprint(String name) {
		if (this.fingerprintKey == null) {
			return "'" + name + "'";
		}
		try {
			Mac mac = Mac.getInstance(this.fingerprintKey.getAlgorithm());
			mac.init(this.fingerprintKey);
			byte[] hash = mac.doFinal(name.getBytes(StandardCharsets.UTF_8));
			return "#" + HEX.formatHex(hash, 0, FINGERPRINT_BYTES);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has HmacSHA256", ex);
		}
	}

}
