package io.fencing.sample.ledger;

/**
 * Nobody has ever paid into the account.
 */
public class UnknownAccountException extends RuntimeException {

	UnknownAccountException(String account) {
		super("Account '" + account + "' is unknown; a first deposit opens it");
	}

}
