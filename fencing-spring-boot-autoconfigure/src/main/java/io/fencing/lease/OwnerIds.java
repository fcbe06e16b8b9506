package io.fencing.lease;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the owners of leases: one for each invocation, never reused by this JVM or any
 * other. At most 38 ASCII characters; what precedes the hyphen is the instance.
 * Thread-safe.
 */
final class OwnerIds {

	// 96 bits: no two instances of a fleet ever draw the same
	private static final int INSTANCE_BYTES = 12;

	private final String instance;

	private final AtomicLong counter = new AtomicLong();

	/**
	 * Draw the id of this instance.
	 */
	OwnerIds() {
		byte[] random = new byte[INSTANCE_BYTES];
		new SecureRandom().nextBytes(random);
		this.instance = HexFormat.of().formatHex(random);
	}

	/**
	 * Make an owner.
	 * @return 24 hexadecimal digits, a hyphen and a counter in base 36
	 */
	String next() {
		return this.instance + "-" + Long.toString(this.counter.incrementAndGet(), Character.MAX_RADIX);
	}

}
