package io.fencing.sample.lab;

import java.math.BigDecimal;

/**
 * The balances that the lab works on, in one storage, by way of the fence or not.
 */
public interface LabAccounts {

	/**
	 * Have the calling thread held up when it next sends something to the storage, after
	 * all that its own JVM has checked.
	 * @param pause what holds it up
	 */
	void pauseBeforeSending(Runnable pause);

	/**
	 * Open an account.
	 * @param account the account
	 * @param balance its first balance
	 */
	void open(String account, BigDecimal balance);

	/**
	 * Read a balance.
	 * @param account the account
	 * @return its balance
	 */
	BigDecimal read(String account);

	/**
	 * Write a balance over the one that is there.
	 * @param account the account
	 * @param balance the balance
	 */
	void write(String account, BigDecimal balance);

}
