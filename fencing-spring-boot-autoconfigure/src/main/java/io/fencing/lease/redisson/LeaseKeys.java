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
 * fencing:1:{K}:released     (channel)       empty messages, one for each release
 * </pre>
 *
 * A lease with an empty owner ({@code token:}) is kept taken after its release, and
 * nobody's. All values are plain text. A user with limited rights needs
 * <code>~fencing:1:*</code>, <code>&amp;fencing:1:*</code> and {@code eval},
 * {@code evalsha}, {@code script|load}, {@code get}, {@code set}, {@code del},
 * {@code pttl}, {@code pexpire}, {@code time}, {@code publish}, {@code subscribe},
 * {@code unsubscribe} and {@code ping}, and what Redisson needs for the topology
 * (<code>cluster|nodes</code> or {@code sentinel}).
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

	private String key(FencedResource resource, String suffix) {
		return this.prefix + "{" + resource.getKey() + "}:" + suffix;
	}

}
