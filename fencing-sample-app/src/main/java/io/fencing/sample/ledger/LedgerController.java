package io.fencing.sample.ledger;

import java.math.BigDecimal;

import io.fencing.sample.idempotency.IdempotencyKey;
import io.fencing.sample.ledger.RefusedMovementException.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * The ledger over HTTP.
 */
@RestController
class LedgerController {

	private final Ledger ledger;

	private final BalanceCache balances;

	LedgerController(Ledger ledger, BalanceCache balances) {
		this.ledger = ledger;
		this.balances = balances;
	}

	@GetMapping("/accounts/{id}")
	Account account(@PathVariable String id) {
		return new Account(id, this.balances.get(id));
	}

	@PostMapping("/accounts/{id}/deposits")
	Receipt deposit(@PathVariable String id, @RequestBody Movement movement,
			@RequestHeader(name = IdempotencyKey.HEADER, required = false) @Nullable String key) {
		String requestId = IdempotencyKey.identity(key);
		Receipt receipt = this.ledger.deposit(MovementRules.account(id), MovementRules.amount(movement.amount()),
				requestId);
		this.balances.update(id);
		return receipt;
	}

	@PostMapping("/accounts/{id}/withdrawals")
	Receipt withdraw(@PathVariable String id, @RequestBody Movement movement,
			@RequestHeader(name = IdempotencyKey.HEADER, required = false) @Nullable String key) {
		String requestId = IdempotencyKey.identity(key);
		Receipt receipt = this.ledger.withdraw(MovementRules.account(id), MovementRules.amount(movement.amount()),
				requestId);
		this.balances.update(id);
		return receipt;
	}

	@PostMapping("/transfers")
	TransferReceipt transfer(@RequestBody Transfer transfer,
			@RequestHeader(name = IdempotencyKey.HEADER, required = false) @Nullable String key) {
		String requestId = IdempotencyKey.identity(key);
		String from = MovementRules.account(transfer.from());
		String to = MovementRules.account(transfer.to());
		if (from.equals(to)) {
			throw new RefusedMovementException(Reason.SAME_ACCOUNT);
		}
		TransferReceipt receipt = this.ledger.transfer(from, to, MovementRules.amount(transfer.amount()), requestId);
		this.balances.update(from, to);
		return receipt;
	}

	/**
	 * A deposit or a withdrawal.
	 *
	 * @param amount the amount
	 */
	record Movement(@Nullable BigDecimal amount) {
	}

	/**
	 * A transfer.
	 *
	 * @param from the account that pays
	 * @param to the account that is paid
	 * @param amount the amount
	 */
	record Transfer(@Nullable String from, @Nullable String to, @Nullable BigDecimal amount) {
	}

}
