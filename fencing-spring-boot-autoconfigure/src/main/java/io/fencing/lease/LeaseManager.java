package io.fencing.lease;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import io.fencing.FencedResource;
import io.fencing.HeldResource;
import org.jspecify.annotations.Nullable;

/**
 * Keeps all leases of this JVM: acquires them (all or none, waiting in bounds), has them
 * renewed by the watchdog, and gives them back. Thread-safe.
 */
public interface LeaseManager {

	/**
	 * Acquire leases for all resources, or none of them.
	 * @param terms the terms
	 * @param resources the resources, sorted and without duplicates
	 * @return the leases, in the order of the resources; the watchdog keeps them
	 * @throws io.fencing.LeaseNotAcquiredException if one stayed leased to somebody else
	 * @throws io.fencing.CoordinatorUnavailableException if there was no usable answer
	 * within the wait
	 * @throws io.fencing.ApplicationShutdownException if this application shuts down
	 */
	List<Lease> acquire(LeaseTerms terms, List<FencedResource> resources);

	/**
	 * Stop renewing leases and give them back. A failure is logged, told to the listeners
	 * and returned, never thrown: it must not hide how the work ended, and the leases end
	 * by themselves.
	 * @param leases the leases
	 * @return the first failure, {@code null} if there was none
	 */
	@Nullable RuntimeException release(Collection<? extends HeldResource> leases);

	/**
	 * Ask the coordinator whether a lease is still ours, renewing it by the way.
	 * @param held the lease
	 * @return whether it is ours; {@code false} also when there was no answer
	 */
	boolean isOurs(HeldResource held);

	/**
	 * Lift the coordinator above a token that a storage has accepted.
	 * @param resource the resource
	 * @param token the accepted token
	 * @throws io.fencing.CoordinatorUnavailableException if there was no usable answer
	 */
	void lift(FencedResource resource, long token);

	/**
	 * Take acquisitions again after a shutdown.
	 */
	void start();

	/**
	 * Refuse new acquisitions, those that wait included, let operations end, and stop.
	 * Leases that are not given back in time are lost.
	 * @param grace how long to let them
	 * @return whether all leases were given back
	 */
	boolean shutdown(Duration grace);

	/**
	 * On which terms leases are acquired and kept.
	 *
	 * @param operation the name of the operation
	 * @param leaseTime how long one grant or renewal lasts
	 * @param waitTime the longest time to wait for all resources together
	 * @param maxHold the longest time that the watchdog keeps them
	 * @param minHold the shortest time that the resources stay taken
	 * @param renew whether the watchdog renews them
	 * @param answerTimeout the longest time to wait for one answer of the coordinator
	 * when it is acquired, {@code null} for the manager's own
	 */
	record LeaseTerms(String operation, Duration leaseTime, Duration waitTime, Duration maxHold, Duration minHold,
			boolean renew, @Nullable Duration answerTimeout) {

		/**
		 * Create terms with the manager's own bound for one answer.
		 * @param operation the name of the operation
		 * @param leaseTime how long one grant or renewal lasts
		 * @param waitTime the longest time to wait for all resources together
		 * @param maxHold the longest time that the watchdog keeps them
		 * @param minHold the shortest time that the resources stay taken
		 * @param renew whether the watchdog renews them
		 */
		public LeaseTerms(String operation, Duration leaseTime, Duration waitTime, Duration maxHold, Duration minHold,
				boolean renew) {
			this(operation, leaseTime, waitTime, maxHold, minHold, renew, null);
		}

	}

}
