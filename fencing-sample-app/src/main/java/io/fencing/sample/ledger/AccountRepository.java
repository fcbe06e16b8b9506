package io.fencing.sample.ledger;

import java.math.BigDecimal;
import java.util.Optional;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Accounts and their entries in PostgreSQL.
 */
@Repository
class AccountRepository {

	private final JdbcClient jdbc;

	AccountRepository(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	Optional<BigDecimal> findBalance(String account) {
		return this.jdbc.sql("SELECT balance FROM account WHERE id = ?")
			.param(account)
			.query(BigDecimal.class)
			.optional();
	}

	void record(Receipt receipt, BigDecimal amount) {
		// a value and not a difference: a late write of an old one would undo newer work
		this.jdbc
			.sql("INSERT INTO account (id, balance) VALUES (?, ?) "
					+ "ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance")
			.params(receipt.account(), receipt.balance())
			.update();
		this.jdbc.sql("INSERT INTO entry (account, amount, balance, token) VALUES (?, ?, ?, ?)")
			.params(receipt.account(), amount, receipt.balance(), receipt.token())
			.update();
	}

}
