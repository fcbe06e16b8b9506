package io.fencing;

/**
 * The number given with each grant of a lease, greater than every number given before for
 * that resource, together with the owner that it was given to. Immutable.
 *
 * <p>
 * The idea is that of Chubby's sequencers (Burrows, 2006) and of fencing tokens
 * (Kleppmann, "How to do distributed locking", 2016). A fence compares both parts: after
 * a failover two owners may have been given equal numbers, and only one of them may
 * write.
 *
 * @param value the number: at least the coordinator's time in microseconds since 1970 at
 * the grant, below 2^53
 * @param owner the id of the one invocation that the token was given to, never reused
 */
public record FencingToken(long value, String owner) implements Comparable<FencingToken> {

	/**
	 * Orders by number only: two owners of one number are neither older nor newer.
	 */
	@Override
	public int compareTo(FencingToken other) {
		return Long.compare(this.value, other.value);
	}

	@Override
	public String toString() {
		return Long.toString(this.value);
	}

}
