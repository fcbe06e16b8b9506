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

	/**
	 * Make the resource that a key stands for, where nothing else of it is known.
	 * @param key its key, as of {@link FencedResource#getKey()}
	 * @return the resource, equal to the one that has the key
	 */
	public FencedResource ofKey(String key) {
		return new FencedResource(this.namespace, key, key, this::fingerprint);
	}

	/**
	 * The namespace of all resources made.
	 * @return the namespace
	 */
	public String getNamespace() {
		return this.namespace;
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

	private String fingerprint(FencedResource resource) {
		return (this.fingerprintKey != null) ? fingerprint(resource.getKey(), this.fingerprintKey)
				: quoted(resource.getName());
	}

	/**
	 * What stands for a text in logs and messages that is as personal as the name of a
	 * resource: the identity of an operation for instance.
	 * @param text the text
	 * @return a short keyed fingerprint such as {@code #3fa1c2d4e5}, or the text where
	 * the application asked for that
	 */
	public String fingerprint(String text) {
		return (this.fingerprintKey != null) ? fingerprint(text, this.fingerprintKey) : quoted(text);
	}

	private static String quoted(String text) {
		return "'" + text + "'";
	}

	private static String fingerprint(String text, SecretKeySpec key) {
		try {
			Mac mac = Mac.getInstance(key.getAlgorithm());
			mac.init(key);
			return "#" + HEX.formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)), 0, FINGERPRINT_BYTES);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has HmacSHA256", ex);
		}
	}

}
