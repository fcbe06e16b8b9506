package io.fencing;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells all listeners of an application. No listener itself, so that it is not told by
 * itself. What one of them throws is logged and keeps nothing from the others, nor from
 * the work. Thread-safe.
 */
public final class FencingListeners {

	private static final Logger logger = LoggerFactory.getLogger(FencingListeners.class);

	private final List<FencingListener> listeners;

	/**
	 * Create the composite.
	 * @param listeners the listeners, in order
	 */
	public FencingListeners(List<? extends FencingListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	/**
	 * A lease was granted.
	 * @param operation the operation
	 * @param held what it holds now
	 * @param waited how long it waited
	 */
	public void onAcquired(String operation, HeldResource held, Duration waited) {
		tell((listener) -> listener.onAcquired(operation, held, waited));
	}

	/**
	 * A lease is known to be lost; told once.
	 * @param operation the operation
	 * @param held what it held; {@link HeldResource#getLossReason()} says why
	 */
	public void onLost(String operation, HeldResource held) {
		tell((listener) -> listener.onLost(operation, held));
	}

	/**
	 * A lease was given back, or the attempt failed and its expiry will end it.
	 * @param operation the operation
	 * @param held what it held
	 * @param heldFor for how long
	 * @param failure why it could not be given back, {@code null} if it could
	 */
	public void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
		tell((listener) -> listener.onReleased(operation, held, heldFor, failure));
	}

	/**
	 * A storage accepted the tokens of an operation.
	 * @param operation the operation
	 * @param storage the storage
	 * @param took how long it took
	 */
	public void onAdmitted(String operation, String storage, Duration took) {
		tell((listener) -> listener.onAdmitted(operation, storage, took));
	}

	/**
	 * A storage, or a check in front of it, refused.
	 * @param operation the operation
	 * @param storage the storage
	 * @param reason why
	 */
	public void onRejected(String operation, String storage, RejectionReason reason) {
		tell((listener) -> listener.onRejected(operation, storage, reason));
	}

	/**
	 * The coordinator issued a token below what a storage had accepted, while the lease
	 * was ours.
	 * @param operation the operation
	 * @param storage the storage
	 * @param issued the token issued
	 * @param accepted the token that the storage had accepted
	 */
	public void onRegression(String operation, String storage, long issued, long accepted) {
		tell((listener) -> listener.onRegression(operation, storage, issued, accepted));
	}

	/**
	 * A write went by no fence, or an operation ended without having met one.
	 * @param operation the operation, {@code null} for a write outside one
	 * @param storage the storage, {@code null} for an operation that met none
	 */
	public void onUnfenced(@Nullable String operation, @Nullable String storage) {
		tell((listener) -> listener.onUnfenced(operation, storage));
	}

	/**
	 * It was found out what would have become of an operation that is only observed.
	 * @param operation the operation
	 * @param storage the storage, or {@code coordinator} for the lease
	 * @param observation what would have become of it
	 */
	public void onObserved(String operation, String storage, Observation observation) {
		tell((listener) -> listener.onObserved(operation, storage, observation));
	}

	/**
	 * Something happened to an operation with an identity that its journal knows of.
	 * @param operation the operation
	 * @param identity the fingerprint of its identity
	 * @param attempt the number of the attempt, 1 for the first one
	 * @param event what happened
	 */
	public void onAttempt(String operation, String identity, int attempt, AttemptEvent event) {
		tell((listener) -> listener.onAttempt(operation, identity, attempt, event));
	}

	/**
	 * A call of an operation ended.
	 * @param operation the operation
	 * @param outcome how it ended
	 * @param took how long it took, waiting included
	 */
	public void onFinished(String operation, OperationOutcome outcome, Duration took) {
		tell((listener) -> listener.onFinished(operation, outcome, took));
	}

	private void tell(Consumer<FencingListener> event) {
		for (FencingListener listener : this.listeners) {
			try {
				event.accept(listener);
			}
			catch (Throwable ex) {
				// an Error as well: what comes after must not miss its turn
				logger.warn("A fencing listener of type '{}' failed; fix it, the work goes on",
						listener.getClass().getName(), ex);
			}
		}
	}

}
