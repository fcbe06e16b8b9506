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
 * @param hash what stands for it in the store, whatever characters, lengths and
 * collations there are: 64 lower-case hexadecimal digits
 */
public record OperationKey(String namespace, String name, String identity, String hash) {

	/**
	 * Name a request.
	 * @param namespace the namespace of its resources
	 * @param name the name of the operation
	 * @param identity the caller's id of the request
	 * @return its key
	 */
	public static OperationKey of(String namespace, String name, String identity) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			// the lengths keep ("a", "b:c") and ("a:b", "c") apart
			digest.update((namespace.length() + ":" + namespace + name.length() + ":" + name)
				.getBytes(StandardCharsets.UTF_8));
			return new OperationKey(namespace, name, identity,
					HexFormat.of().formatHex(digest.digest(identity.getBytes(StandardCharsets.UTF_8))));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
