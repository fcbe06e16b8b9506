package io.fencing.fence.jdbc;

/**
 * The rules of the SQL side that {@link NaiveFence} can leave out.
 */
enum Rule {

	/** Claim before the first read, not only before the write. */
	CLAIM_AT_ENTRY,

	/** A fence stores (token, owner): equal numbers of two owners are not the same. */
	COMPARE_OWNERS,

	/** After the claim demand equality, never raise the fence again. */
	NEVER_RAISE_AGAIN,

	/** Check and write are one atomic step: the fence row is locked to the commit. */
	LOCK_TO_COMMIT,

	/** Every new transaction takes its own hold. */
	HOLD_IN_EACH_TRANSACTION,

	/** A claim is its own committed transaction. */
	CLAIM_IN_OWN_TRANSACTION,

	/** A write holds the fences of all resources on the stack. */
	HOLD_ALL_ON_STACK,

	/** Lost leases stop new transactions. */
	STOP_WHEN_LOST,

	/** A refusal belongs to the operation, whatever the body does. */
	RECORD_REFUSALS

}
