package io.fencing.sample.ledger;

/**
 * Nobody has ever paid into the account. Can be made again from its message, as a
 * recorded answer has to be.
 */
public class UnknownAccountException extends RuntimeException {

	UnknownAccountException(String message) {
		super(message);
	}

	static UnknownAccountException of(String account) {
		return new UnknownAccountException("Account '" + account + "' is unknown; a first deposit opens it");
	}

}
