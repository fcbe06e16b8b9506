package io.fencing.adversarial;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;
import io.fencing.FencingToken;

/**
 * Adds one to an account in the way that needs protection: reads its last entry in one
 * step and writes the next one in another.
 */
public class Accounts {

	@FencedOperation(resource = "account:#{#account}", name = "add")
	public void add(String account, String id, Ledger ledger, Runnable between) {
		append(account, id, ledger, between);
	}

	@FencedOperation(resource = "account:#{#account}", name = "add-unrenewed", renew = false, leaseTime = "300ms")
	public void addUnrenewed(String account, String id, Ledger ledger, Runnable between) {
		append(account, id, ledger, between);
	}

	private static void append(String account, String id, Ledger ledger, Runnable between) {
		FencingToken token = FencingContext.required().getToken();
		LedgerEntry last = ledger.last(account);
		between.run();
		ledger.append(account, new LedgerEntry(id, last.id(), last.balance() + 1, token.value(), token.owner()));
	}

}
