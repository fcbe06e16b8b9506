package io.fencing.fence.redis;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.fencing.FencingToken;
import io.fencing.context.OperationContext;

/**
 * What the guards of one fence have answered to one operation: those that are known to
 * have shown its token, and must show it from then on. Thread-safe.
 */
final class Admitted {

	private final Set<Guard> guards = ConcurrentHashMap.newKeySet();

	private final Map<Place, Admission> granted = new ConcurrentHashMap<>();

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
	 * What commands must show at one place: the same for all of them, once all of its
	 * guards have shown the token.
	 * @param place the place
	 * @param fresh makes an admission
	 * @return the admission
	 */
	Admission admission(Place place, Supplier<Admission> fresh) {
		Admission known = this.granted.get(place);
		if (known != null) {
			return known;
		}
		Admission admission = fresh.get();
		if (admission.isGranted()) {
			this.granted.put(place, admission);
		}
		return admission;
	}

	/**
	 * Where an operation, or one inside of it, works.
	 *
	 * @param context the operation
	 * @param database the database of the data
	 * @param slot the slot of the data
	 */
	record Place(OperationContext context, int database, int slot) {
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
