package io.fencing.sample.lab;

import java.math.BigDecimal;

import io.fencing.FencedOperation;

/**
 * The operation of the lab, written as such operations are: it reads, asks somebody
 * remote, and writes; in a database, each in a transaction of its own.
 */
public class LabWorker {

	/**
	 * Deposit. The lease is short and not renewed, as that of a JVM which is frozen: here
	 * only one thread is, and the watchdog would go on renewing.
	 * @param deposit what to deposit
	 * @param accounts by which way
	 */
	@FencedOperation(resource = "account:#{#deposit.account}", name = "lab-deposit", leaseTime = "2s", waitTime = "10s",
			renew = false)
	public void deposit(LabDeposit deposit, LabAccounts accounts) {
		deposit.start();
		BigDecimal balance = accounts.read(deposit.getAccount());
		deposit.note("has read " + balance);
		deposit.callRemote(accounts);
		BigDecimal newBalance = balance.add(deposit.getAmount());
		accounts.write(deposit.getAccount(), newBalance);
		deposit.note("has committed " + newBalance);
	}

}
