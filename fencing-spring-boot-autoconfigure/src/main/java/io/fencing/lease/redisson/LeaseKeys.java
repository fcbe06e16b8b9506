package io.fencing.lease.redisson;

import io.fencing.FencedResource;

/**
 * The layout of what the coordinator keeps in Redis. Immutable.
 *
 * <p>
 * <code>K</code> is {@link FencedResource#getKey()}, 64 hexadecimal digits; it is also
 * the hash tag, so that all keys of one resource share a cluster slot. {@code 1} is the
 * version of this layout.
 *
 * <pre>
 * key                        value           type    ends after
 * fencing:1:{K}:lease        token:owner     string  the lease time, renewed while held
 * fencing:1:{K}:token        last token      string  the token retention, anew at each grant
 * fencing:1:{K}:released     (channel)       one message for each release: the node whose turn it is, or empty
 *
 * where leases are granted in order of arrival also
 * fencing:1:{K}:line         owner, place    sorted  five seconds after the last one lined up or looked
 * fencing:1:{K}:heard        node, time      sorted  the same
 * </pre>
 *
 * A lease with an empty owner ({@code token:}) is kept taken after its release, and
 * nobody's. All values are plain text. The rights that a limited user needs are listed in
 * docs/coordinator.md.
 */
final class LeaseKeys {

	private static final int LAYOUT_VERSION = 1;

	private final String prefix;

	/**
	 * Create the layout.
	 * @param prefix what all keys start with
	 */
	LeaseKeys(String prefix) {
		this.prefix = prefix + ":" + LAYOUT_VERSION + ":";
	}

	/**
	 * The key of the lease.
	 * @param resource the resource
	 * @return the key
	 */
	String lease(FencedResource resource) {
		return key(resource, "lease");
	}

	/**
	 * The key of the last token.
	 * @param resource the resource
	 * @return the key
	 */
	String token(FencedResource resource) {
		return key(resource, "token");
	}

	/**
	 * The channel that releases are told on.
	 * @param resource the resource
	 * @return the name of the channel
	 */
	String released(FencedResource resource) {
		return key(resource, "released");
	}

	/**
	 * The key of the line of those who wait.
	 * @param resource the resource
	 * @return the key
	 */
	String line(FencedResource resource) {
		return key(resource, "line");
	}

	/**
	 * The key of when the nodes that wait were last heard of.
	 * @param resource the resource
	 * @return the key
	 */
	String heard(FencedResource resource) {
		return key(resource, "heard");
	}

	private String key(FencedResource resource, String suffix) {
		return this.prefix + "{" + resource.getKey() + "}:" + suffix;
	}

}
