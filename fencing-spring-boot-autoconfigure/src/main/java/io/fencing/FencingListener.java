package io.fencing;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Told what happens to leases, fences and operations. Every bean of this type is called,
 * in order, on the thread where it happens, the watchdog's included: implementations are
 * thread-safe and quick. What they throw is logged and goes no further.
 */
public interface FencingListener {

	/**
	 * A lease was granted.
	 * @param operation the operation
	 * @param held what it holds now
	 * @param waited how long it waited
	 */
	default void onAcquired(String operation, HeldResource held, Duration waited) {
	}

	/**
	 * A lease is known to be lost; told once.
	 * @param operation the operation
	 * @param held what it held; {@link HeldResource#getLossReason()} says why
	 */
	default void onLost(String operation, HeldResource held) {
	}

	/**
	 * A lease was given back, or the attempt failed and its expiry will end it.
	 * @param operation the operation
	 * @param held what it held
	 * @param heldFor for how long
	 * @param failure why it could not be given back, {@code null} if it could
	 */
	default void onReleased(String operation, HeldResource held, Duration heldFor, @Nullable RuntimeException failure) {
	}

	/**
	 * A storage accepted the tokens of an operation.
	 * @param operation the operation
	 * @param storage the storage
	 * @param took how long it took
	 */
	default void onAdmitted(String operation, String storage, Duration took) {
	}

	/**
	 * A storage, or a check in front of it, refused.
	 * @param operation the operation
	 * @param storage the storage
	 * @param reason why
	 */
	default void onRejected(String operation, String storage, RejectionReason reason) {
	}

	/**
	 * The coordinator issued a token below what a storage had accepted, while the lease
	 * was ours.
	 * @param operation the operation
	 * @param storage the storage
	 * @param issued the token issued
	 * @param accepted the token that the storage had accepted
	 */
	default void onRegression(String operation, String storage, long issued, long accepted) {
	}

	/**
	 * A write went by no fence, or an operation ended without having met one.
	 * @param operation the operation, {@code null} for a write outside one
	 * @param storage the storage, {@code null} for an operation that met none
	 */
	default void onUnfenced(@Nullable String operation, @Nullable String storage) {
	}

	/**
	 * It was found out what would have become of an operation that is only observed.
	 * @param operation the operation
	 * @param storage the storage, or {@code coordinator} for the lease
	 * @param observation what would have become of it
	 */
	default void onObserved(String operation, String storage, Observation observation) {
	}

	/**
	 * Something happened to an operation with an identity that its journal knows of.
	 * @param operation the operation
	 * @param identity the fingerprint of its identity
	 * @param attempt the number of the attempt, 1 for the first one
	 * @param event what happened
	 */
	default void onAttempt(String operation, String identity, int attempt, AttemptEvent event) {
	}

	/**
	 * A call of an operation ended.
	 * @param operation the operation
	 * @param outcome how it ended
	 * @param took how long it took, waiting included
	 */
	default void onFinished(String operation, OperationOutcome outcome, Duration took) {
	}

}
