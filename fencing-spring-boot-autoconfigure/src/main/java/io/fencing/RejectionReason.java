package io.fencing;

/**
 * Why a fence refused a token.
 */
public enum RejectionReason {

	/**
	 * The fence has already accepted a newer token, or an equal one of another owner.
	 */
	STALE,

	/**
	 * As {@link #STALE} or {@link #EXPIRED}, while the lease is ours: the clock of the
	 * coordinator went back, and it has lost the last token or never had one. It has been
	 * lifted above the fence or to the time of the storage, so calling the operation
	 * again succeeds.
	 */
	REGRESSION,

	/**
	 * The fence has forgotten this operation after it had claimed it.
	 */
	MISSING,

	/**
	 * The token is older than the retention of the fence.
	 */
	EXPIRED,

	/**
	 * A replica does not show the claim yet.
	 */
	LAGGING,

	/**
	 * A newer claim was under way, or a lock was held, for longer than allowed.
	 */
	CONFLICT,

	/**
	 * The transaction that held the fence is not the one that is about to commit.
	 */
	REPLACED,

	/**
	 * The lease was known to be lost before anything was sent.
	 */
	LOST,

	/**
	 * What was tried cannot be fenced where it was tried.
	 */
	UNFENCED

}
