package io.fencing.adversarial;

/**
 * The ledgers of accounts in some storage.
 */
interface Ledger {

	LedgerEntry last(String account);

	void append(String account, LedgerEntry entry);

	/**
	 * Run an action, once, at the last moment before the calling thread sends something
	 * to the storage. Whatever this JVM checks has been checked by then.
	 * @param action the action
	 */
	void beforeNextAccess(Runnable action);

	/**
	 * Run nothing before the next access of the calling thread.
	 */
	void open();

}
