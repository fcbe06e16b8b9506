package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;

import io.fencing.FencedResource;

/**
 * The layout of guards: what a fenced Redis keeps next to the data that it protects, on
 * the same server, in the same database. Immutable.
 *
 * <p>
 * <code>K</code> is {@link FencedResource#getKey()}, 64 hexadecimal digits; {@code 1} is
 * the version of this layout.
 *
 * <pre>
 * key                          value         type    ends after
 * fencing:1:{K}:guard          token:owner   string  the retention, anew at each claim
 * fencing:1:{T}:K:guard        token:owner   string  the same; in a cluster, one for each slot that holds data
 * </pre>
 *
 * In a cluster each slot is a storage of its own. <code>T</code> is the tag that
 * {@link SlotTags} gives for the slot of the data; made from the text of the data's key,
 * it would fail for keys such as <code>a}b</code>, <code>{}x</code> and
 * <code>x{}y{z}</code>. {@code KEYS}, {@code SCAN}, {@code RANDOMKEY} and {@code DBSIZE}
 * show guards; their prefix tells them apart.
 */
final class GuardKeys {

	private static final int LAYOUT_VERSION = 1;

	private final String prefix;

	/**
	 * Create the layout.
	 * @param prefix what all keys start with
	 */
	GuardKeys(String prefix) {
		this.prefix = prefix + ":" + LAYOUT_VERSION + ":{";
	}

	/**
	 * The guard of a resource where there are no slots.
	 * @param resource the resource
	 * @return the key
	 */
	byte[] guard(FencedResource resource) {
		return bytes(this.prefix + resource.getKey() + "}:guard");
	}

	/**
	 * The guard of a resource in one slot of a cluster.
	 * @param resource the resource
	 * @param slot the slot of the data
	 * @return the key, in the same slot
	 */
	byte[] guard(FencedResource resource, int slot) {
		return bytes(this.prefix + SlotTags.of(slot) + "}:" + resource.getKey() + ":guard");
	}

	private static byte[] bytes(String key) {
		return key.getBytes(StandardCharsets.UTF_8);
	}

}
