package io.fencing.journal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * Names one logical request. Immutable.
 *
 * @param namespace the namespace of its resources
 * @param name the name of the operation
 * @param identity the caller's id of the request
 */
public record OperationKey(String namespace, String name, String identity) {

	/**
	 * What stands for it in the store, whatever characters, lengths and collations there
	 * are.
	 * @return 64 lower-case hexadecimal digits
	 */
	public String hash() {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			// the lengths keep ("a", "b:c") and ("a:b", "c") apart
			digest.update((this.namespace.length() + ":" + this.namespace + this.name.length() + ":" + this.name)
				.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest.digest(this.identity.getBytes(StandardCharsets.UTF_8)));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

	/**
	 * What stands for it in logs and events.
	 * @return a short fingerprint such as {@code #3fa1c2d4e5}
	 */
	public String fingerprint() {
		return "#" + hash().substring(0, 10);
	}

}
