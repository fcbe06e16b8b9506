package io.fencing;

import java.time.Duration;

/**
 * A resource that an operation holds a lease on, as seen by those who may only look.
 * Thread-safe; what it answers may change at any moment.
 */
public interface HeldResource {

	/**
	 * The resource.
	 * @return the resource
	 */
	FencedResource getResource();

	/**
	 * The token of this grant, the same from acquisition to release.
	 * @return the token
	 */
	FencingToken getToken();

	/**
	 * Whether it is known locally that the lease is gone or past its deadline. The answer
	 * {@code false} proves nothing: only the storage can tell.
	 * @return whether the lease is lost
	 */
	boolean isLost();

	/**
	 * Why the lease is lost.
	 * @return the reason; {@link LossReason#NONE} while it is not lost
	 */
	LossReason getLossReason();

	/**
	 * The time left until the local deadline.
	 * @return the time left, zero once lost
	 */
	Duration getRemaining();

}
