package io.fencing;

import org.jspecify.annotations.Nullable;

/**
 * The programmatic twin of {@link FencedOperation}: runs code under a lease where an
 * annotation does not fit. Thread-safe.
 *
 * <pre class="code">
 * fencedOperations.call(FencedOperationRequest.of("close-day", "ledger:" + day), () -&gt; ledger.close(day));
 * </pre>
 */
public interface FencedOperations {

	/**
	 * Run the body under the leases that the request asks for.
	 * @param <T> the type of the result
	 * @param <E> the type of the checked exception that the body throws
	 * @param request what to lease and how
	 * @param body the work
	 * @return what the body returned; {@code null} when it was skipped
	 * @throws E what the body threw, unchanged
	 * @throws LeaseNotAcquiredException if a resource stayed leased to somebody else
	 * @throws CoordinatorUnavailableException if the coordinator could not be reached
	 * @throws ApplicationShutdownException if this application is shutting down
	 * @throws LeaseLostException if work was stopped since the lease was lost
	 * @throws StaleTokenException if a storage refused the token
	 * @throws AdmissionTimeoutException if a storage could not be claimed in time
	 * @throws InvalidFencedOperationException if the call cannot be fenced where it was
	 * made
	 */
	<T extends @Nullable Object, E extends Exception> @Nullable T call(FencedOperationRequest request,
			FencedBody<T, E> body) throws E;

	/**
	 * Run a task that has no result under the leases that the request asks for; fails as
	 * {@link #call} does.
	 * @param <E> the type of the checked exception that the task throws
	 * @param request what to lease and how
	 * @param task the work
	 * @return whether it ran; {@code false} when it was skipped
	 * @throws E what the task threw, unchanged
	 */
	default <E extends Exception> boolean run(FencedOperationRequest request, FencedTask<E> task) throws E {
		Boolean ran = this.<Boolean, E>call(request, () -> {
			task.run();
			return true;
		});
		return ran != null;
	}

	/**
	 * The work of an operation.
	 *
	 * @param <T> the type of the result
	 * @param <E> the type of the checked exception
	 */
	@FunctionalInterface
	interface FencedBody<T extends @Nullable Object, E extends Exception> {

		/**
		 * Do the work.
		 * @return the result
		 * @throws E if it fails
		 */
		T run() throws E;

	}

	/**
	 * The work of an operation that has no result.
	 *
	 * @param <E> the type of the checked exception
	 */
	@FunctionalInterface
	interface FencedTask<E extends Exception> {

		/**
		 * Do the work.
		 * @throws E if it fails
		 */
		void run() throws E;

	}

}
