package io.fencing.fence.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.fencing.FencingToken;

/**
 * What the guards of one fence have answered to one operation: those that are known to
 * have shown its token, and must show it from then on. Thread-safe.
 */
final class Admitted {

	private final Set<Guard> guards = ConcurrentHashMap.newKeySet();

	boolean contains(Guard guard) {
		return this.guards.contains(guard);
	}

	/**
	 * Note that a guard has shown the token.
	 * @param guard the guard
	 * @return whether that is news
	 */
	boolean add(Guard guard) {
		return this.guards.add(guard);
	}

	/**
	 * One guard and what it must show.
	 *
	 * @param resource the key of the resource
	 * @param token the token
	 * @param database the database that the guard is in
	 * @param slot the slot that it is in
	 */
	record Guard(String resource, FencingToken token, int database, int slot) {
	}

}
