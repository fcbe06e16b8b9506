package io.fencing.sample.ledger;

import java.math.BigDecimal;

import io.fencing.FencedOperation;
import io.fencing.FencingContext;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Movements on accounts. Each reads a balance and writes a new one, which is safe only
 * while nobody else does the same: the fence sees to that. And each is made once, however
 * often a request comes: its answer is recorded in the same transaction, and a refusal is
 * an answer like any other.
 */
@Service
public class Ledger {

	private final AccountRepository accounts;

	Ledger(AccountRepository accounts) {
		this.accounts = accounts;
	}

	/**
	 * The balance of an account.
	 * @param account the account
	 * @return its balance
	 */
	public BigDecimal balance(String account) {
		return this.accounts.findBalance(account).orElseThrow(() -> UnknownAccountException.of(account));
	}

	/**
	 * Pay into an account, opening it if need be.
	 * @param account the account
	 * @param amount the amount
	 * @param requestId the caller's id of the request
	 * @return what it left behind
	 */
	@FencedOperation(resource = "account:#{#account}", name = "deposit", operationId = "#{#requestId}",
			input = "#{#amount}", notRepeatableFor = RefusedMovementException.class)
	@Transactional
	public Receipt deposit(String account, BigDecimal amount, String requestId) {
		BigDecimal balance = this.accounts.findBalance(account).orElse(BigDecimal.ZERO);
		return post(account, balance.add(amount), amount);
	}

	/**
	 * Take from an account.
	 * @param account the account
	 * @param amount the amount
	 * @param requestId the caller's id of the request
	 * @return what it left behind
	 */
	@FencedOperation(resource = "account:#{#account}", name = "withdraw", operationId = "#{#requestId}",
			input = "#{#amount}", notRepeatableFor = { RefusedMovementException.class, UnknownAccountException.class })
	@Transactional
	public Receipt withdraw(String account, BigDecimal amount, String requestId) {
		return post(account, MovementRules.remainder(balance(account), amount), amount.negate());
	}

	/**
	 * Take from one account and pay into another, both existing. The resources do not say
	 * which is which, so the input does.
	 * @param from the account that pays
	 * @param to the account that is paid
	 * @param amount the amount
	 * @param requestId the caller's id of the request
	 * @return what it left behind
	 */
	@FencedOperation(resource = { "account:#{#from}", "account:#{#to}" }, name = "transfer",
			operationId = "#{#requestId}", input = "#{{#from, #to, #amount}}",
			notRepeatableFor = { RefusedMovementException.class, UnknownAccountException.class })
	@Transactional
	public TransferReceipt transfer(String from, String to, BigDecimal amount, String requestId) {
		BigDecimal paying = MovementRules.remainder(balance(from), amount);
		BigDecimal paid = balance(to).add(amount);
		return new TransferReceipt(post(from, paying, amount.negate()), post(to, paid, amount));
	}

	private Receipt post(String account, BigDecimal balance, BigDecimal amount) {
		long token = FencingContext.required().getToken("account:" + account).value();
		Receipt receipt = new Receipt(account, MovementRules.storable(balance), token);
		this.accounts.record(receipt, amount);
		return receipt;
	}

}
