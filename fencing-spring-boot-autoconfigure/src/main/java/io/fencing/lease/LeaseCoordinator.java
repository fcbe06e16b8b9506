package io.fencing.lease;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import org.jspecify.annotations.Nullable;

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
	 * Keep a place in the line of those who wait, where this coordinator grants in order
	 * of arrival: take the last one if the request has none, and tell that those who wait
	 * here are still there. To be called when waiting begins and again after each attempt
	 * that met another owner. Does not wait for an answer, and no failure is told: it
	 * costs the place, nothing else. By default there is no such line.
	 * @param request the request
	 * @return completed when there is a place, or an answer is not to be expected any
	 * more; to be given back after that with {@link #abandon} where no grant comes of it.
	 * {@code null} if there is no line
	 */
	default @Nullable CompletableFuture<?> lineUp(LeaseRequest request) {
		return null;
	}

	/**
	 * Give back what a request may have been granted although no answer to it came, and
	 * its place in the line. By default nothing is done: both then end by their time.
	 * @param request the request
	 * @param timeout the longest time to wait for the answer
	 * @throws CoordinatorUnavailableException if there was no usable answer in time
	 */
	default void abandon(LeaseRequest request, Duration timeout) {
	}

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
	 * Start to listen for releases of a resource, without waiting for that to succeed.
	 * The first wait ends as soon as the subscription listens, so that an attempt is made
	 * which misses no release; the failure of that attempt is what can be waited out.
	 * @param request the request that waits, on behalf of all of its owner's instance
	 * @return the subscription, to be closed
	 */
	ReleaseSubscription subscribe(LeaseRequest request);

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
		 * Wait for a release that was not waited for before, or until the subscription
		 * listens.
		 * @param timeout the longest time to wait
		 * @return whether another attempt makes sense now; {@code false} proves nothing,
		 * a message may be lost
		 * @throws InterruptedException if the thread is interrupted
		 */
		boolean await(Duration timeout) throws InterruptedException;

		@Override
		void close();

	}

}
