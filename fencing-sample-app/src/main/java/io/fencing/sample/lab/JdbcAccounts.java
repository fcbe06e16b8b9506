package io.fencing.sample.lab;

import java.math.BigDecimal;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Balances in a database, by way of a given template, each access in a transaction of its
 * own.
 */
final class JdbcAccounts implements LabAccounts {

	private final PausingDataSource dataSource;

	private final JdbcOperations jdbc;

	private final TransactionOperations transactions;

	JdbcAccounts(PausingDataSource dataSource, JdbcOperations jdbc, TransactionOperations transactions) {
		this.dataSource = dataSource;
		this.jdbc = jdbc;
		this.transactions = transactions;
	}

	/**
	 * Accounts behind a template and a transaction manager that are no beans, so that
	 * nothing has decorated them.
	 * @param target the data source
	 * @return the accounts
	 */
	static JdbcAccounts undecorated(DataSource target) {
		PausingDataSource dataSource = new PausingDataSource(target);
		return new JdbcAccounts(dataSource, new JdbcTemplate(dataSource),
				new TransactionTemplate(new DataSourceTransactionManager(dataSource)));
	}

	@Override
	public void pauseBeforeSending(Runnable pause) {
		this.dataSource.pauseNextConnection(pause);
	}

	@Override
	public void open(String account, BigDecimal balance) {
		this.transactions.executeWithoutResult(
				(status) -> this.jdbc.update("INSERT INTO account (id, balance) VALUES (?, ?)", account, balance));
	}

	@Override
	public BigDecimal read(String account) {
		return Objects.requireNonNull(this.transactions.execute((status) -> this.jdbc
			.queryForObject("SELECT balance FROM account WHERE id = ?", BigDecimal.class, account)));
	}

	@Override
	public void write(String account, BigDecimal balance) {
		this.transactions.executeWithoutResult(
				(status) -> this.jdbc.update("UPDATE account SET balance = ? WHERE id = ?", balance, account));
	}

}
