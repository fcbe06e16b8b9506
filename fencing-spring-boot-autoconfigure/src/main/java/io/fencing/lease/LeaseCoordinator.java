package io.fencing.lease;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;

/**
 * Grants leases and issues tokens: the SPI behind which Redis stands. Implementations are
 * thread-safe.
 *
 * <p>
 * The contract: the token is issued in the same atomic step as the lease; tokens of one
 * resource never go back; acquire, renew and release are idempotent per owner, so that
 * each may be sent again after a time-out. An answer that did not come, or is not
 * understood, is a {@link CoordinatorUnavailableException}, never a grant.
 */
public interface LeaseCoordinator {

	/**
	 * Try once to acquire, without waiting for a holder.
	 * @param request what is asked for
	 * @param timeout the longest time to wait for the answer
	 * @return the answer
	 * @throws CoordinatorUnavailableException if there was no usable answer in time
	 */
	LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout);

	/**
	 * Renew leases for their full lease time, all in one go.
	 * @param leases the leases
	 * @param timeout the longest time to wait for the answers
	 * @return the answers; a lease that got none is in neither set
	 * @throws CoordinatorUnavailableException if there was no usable answer in time
	 */
	Renewals renew(Collection<Lease> leases, Duration timeout);

	/**
	 * Give a lease back and wake those who wait for it.
	 * @param lease the lease
	 * @param keepFor how long the resource stays taken nevertheless, zero for not at all
	 * @param timeout the longest time to wait for the answer
	 * @return whether it was still ours
	 * @throws CoordinatorUnavailableException if there was no usable answer in time
	 */
	boolean release(Lease lease, Duration keepFor, Duration timeout);

	/**
	 * Lift the coordinator, so that the next token of the resource is above the given
	 * one.
	 * @param resource the resource
	 * @param token the token that a storage has accepted
	 * @param timeout the longest time to wait for the answer
	 * @throws CoordinatorUnavailableException if there was no usable answer in time
	 */
	void lift(FencedResource resource, long token, Duration timeout);

	/**
	 * Start to listen for releases of a resource. Subscribe before the attempt whose
	 * failure is to be waited out, else a release in between is missed.
	 * @param resource the resource
	 * @return the subscription, to be closed
	 */
	ReleaseSubscription subscribe(FencedResource resource);

	/**
	 * The outcome of one round of renewals.
	 *
	 * @param renewed those confirmed
	 * @param refused those that are gone or somebody else's
	 */
	record Renewals(Set<Lease> renewed, Set<Lease> refused) {
	}

	/**
	 * Hears of releases of one resource.
	 */
	interface ReleaseSubscription extends AutoCloseable {

		/**
		 * Wait for a release that was not waited for before.
		 * @param timeout the longest time to wait
		 * @return whether one was heard; {@code false} proves nothing, a message may be
		 * lost
		 * @throws InterruptedException if the thread is interrupted
		 */
		boolean await(Duration timeout) throws InterruptedException;

		@Override
		void close();

	}

}
