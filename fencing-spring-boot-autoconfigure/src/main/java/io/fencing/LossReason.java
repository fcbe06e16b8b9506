package io.fencing;

/**
 * Why a holder knows that its lease is lost.
 */
public enum LossReason {

	/**
	 * It is not lost.
	 */
	NONE,

	/**
	 * The local deadline passed before a renewal was confirmed.
	 */
	DEADLINE,

	/**
	 * The coordinator answered that the lease is gone or somebody else's.
	 */
	REFUSED,

	/**
	 * The operation ran for longer than its {@code maxHold}.
	 */
	MAX_HOLD,

	/**
	 * The operation has ended and given it back; a task that it had started still runs.
	 */
	ENDED,

	/**
	 * The application shut down and the operation outlived the grace period.
	 */
	SHUTDOWN

}
