package io.fencing.fence;

import io.fencing.Observation;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

/**
 * The fence of one storage: keeps the highest (token, owner) that it has accepted for
 * each resource, and refuses work of any other. Thread-safe.
 *
 * <p>
 * <em>Claim</em>: before any work, in one atomic and durable step, refuse if the fence is
 * newer, else raise it. <em>Hold</em>: for the length of a transaction or script nobody
 * else can raise the fence, and it shows exactly this (token, owner). How a hold is taken
 * is each storage's own affair; the executor only claims.
 */
public interface Fence {

	/**
	 * The name of the storage in events and messages.
	 * @return a low-cardinality name such as {@code postgresql}
	 */
	String getStorage();

	/**
	 * Look, before anything is leased, at what the calling thread has open on this
	 * storage.
	 * @param operation the name of the operation that is about to start
	 * @param ownTransaction whether the operation runs outside a transaction that is
	 * active now
	 * @return the caller's transaction that the operation would join, {@code null} if
	 * there is none
	 * @throws io.fencing.InvalidFencedOperationException if what is open makes the
	 * operation read old data
	 */
	@Nullable CallerTransaction inspect(String operation, boolean ownTransaction);

	/**
	 * Whether every transaction on this storage belongs to one transaction manager.
	 * @param transactionManager the bean name of the manager
	 * @return whether they do
	 */
	default boolean isManagedBy(String transactionManager) {
		return false;
	}

	/**
	 * Claim everything that the context itself has leased, in its order, in transactions
	 * of the fence's own.
	 * @param context the context, not yet open
	 * @throws io.fencing.StaleTokenException if the fence is newer
	 * @throws io.fencing.AdmissionTimeoutException if the fence stayed locked
	 */
	void claim(OperationContext context);

	/**
	 * Claim as {@link #claim} does, but without waiting and without failing, and only for
	 * what can be claimed at once.
	 * @param context the context, not yet open
	 * @return what an enforcing claim would have ended in
	 */
	Observation observe(OperationContext context);

	/**
	 * A transaction that the caller had open before the operation started.
	 */
	interface CallerTransaction {

		/**
		 * Hold the fence in it, at once.
		 * @param context the context, now open
		 * @throws io.fencing.StaleTokenException if the fence shows another token
		 * @throws io.fencing.AdmissionTimeoutException if a newer claim is under way
		 */
		void hold(OperationContext context);

		/**
		 * Call back once it has completed, whichever way, on the same thread.
		 * @param callback the callback
		 */
		void afterCompletion(Runnable callback);

	}

}
