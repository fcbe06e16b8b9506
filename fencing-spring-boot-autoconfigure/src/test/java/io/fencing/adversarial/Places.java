package io.fencing.adversarial;

import java.time.Duration;

import io.fencing.FencingListener;
import io.fencing.HeldResource;
import io.fencing.OperationOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Does something at one place in the next call on this thread. Thread-safe.
 */
final class Places implements FencingListener, TransactionExecutionListener {

	private final ThreadLocal<Armed> armed = new ThreadLocal<>();

	/**
	 * Do something at a place.
	 * @param place the place
	 * @param action what to do
	 */
	void arm(Place place, Runnable action) {
		this.armed.set(new Armed(place, action));
	}

	void reach(Place place) {
		Armed current = this.armed.get();
		if (current != null && current.place == place) {
			this.armed.remove();
			current.action.run();
		}
	}

	@Override
	public void onAcquired(String operation, HeldResource held, Duration waited) {
		reach(Place.LEASED);
	}

	@Override
	public void onAdmitted(String operation, String storage, Duration took) {
		reach(Place.CLAIMED);
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		reach(Place.RECORDED);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		reach(Place.COMMITTING);
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		reach(Place.COMMITTED);
	}

	@Override
	public void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
		reach(Place.RELEASED);
	}

	@Override
	public void onFinished(String operation, OperationOutcome outcome, Duration took) {
		reach(Place.FINISHED);
	}

	/**
	 * Between two steps of a call.
	 */
	enum Place {

		/** The lease is there, nothing is claimed. */
		LEASED("ABSENT"),

		/** The fence is raised, no attempt is recorded. */
		CLAIMED("ABSENT"),

		/** The attempt is recorded, its transaction has not begun. */
		RECORDED("RUNNING"),

		/** In the body, when its work is done. */
		WORKED("RUNNING"),

		/** The end is written, the commit not sent. */
		COMMITTING("RUNNING"),

		/** The commit is answered, the lease is there. */
		COMMITTED("COMPLETED"),

		/** The lease has been given back. */
		RELEASED("COMPLETED"),

		/** All is done but to answer. */
		FINISHED("COMPLETED");

		private final String state;

		Place(String state) {
			this.state = state;
		}

		/**
		 * What the journal shows of a first attempt that has come so far.
		 */
		String getState() {
			return this.state;
		}

	}

	/**
	 * What to do, and where.
	 *
	 * @param place the place
	 * @param action what to do
	 */
	private record Armed(Place place, Runnable action) {

	}

}
