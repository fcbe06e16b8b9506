package io.fencing.fence.jdbc;

/**
 * What happens to an operation that is called inside a transaction on a fenced storage
 * ({@code fencing.joined-transactions}).
 */
public enum JoinedTransactions {

	/**
	 * It joins where that loses no update: at READ COMMITTED, with a persistence context
	 * that manages no entity. Elsewhere it is refused.
	 */
	SAFE,

	/**
	 * It is refused.
	 */
	REJECT

}
