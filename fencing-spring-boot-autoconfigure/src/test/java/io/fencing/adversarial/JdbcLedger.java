package io.fencing.adversarial;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import io.fencing.testing.GateDataSource;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Accounts in PostgreSQL, whose last entry is overwritten and noted in a log in the same
 * transaction.
 */
final class JdbcLedger implements Ledger {

	private final GateDataSource dataSource;

	private final JdbcOperations jdbc;

	private final TransactionOperations transactions;

	JdbcLedger(GateDataSource dataSource, JdbcOperations jdbc, TransactionOperations transactions) {
		this.dataSource = dataSource;
		this.jdbc = jdbc;
		this.transactions = transactions;
	}

	/**
	 * By way of a template and a transaction manager that are no beans, so that nothing
	 * has decorated them.
	 * @param target the data source
	 * @return the ledger
	 */
	static JdbcLedger undecorated(DataSource target) {
		GateDataSource dataSource = new GateDataSource(target);
		return new JdbcLedger(dataSource, new JdbcTemplate(dataSource),
				new TransactionTemplate(new JdbcTransactionManager(dataSource)));
	}

	void create(List<String> accounts) {
		String columns = "id VARCHAR(64) NOT NULL, predecessor VARCHAR(64) NOT NULL, balance BIGINT NOT NULL, "
				+ "token BIGINT NOT NULL, owner VARCHAR(64) NOT NULL)";
		this.jdbc.execute("CREATE TABLE account (account VARCHAR(64) PRIMARY KEY, " + columns);
		this.jdbc.execute("CREATE TABLE log (n BIGSERIAL PRIMARY KEY, account VARCHAR(64) NOT NULL, " + columns);
		accounts
			.forEach((account) -> this.jdbc.update("INSERT INTO account VALUES (?, 'none', '', 0, 0, '')", account));
	}

	@Override
	public LedgerEntry last(String account) {
		return Objects.requireNonNull(this.transactions.execute((status) -> this.jdbc
			.queryForObject("SELECT * FROM account WHERE account = ?", JdbcLedger::entry, account)));
	}

	@Override
	public void append(String account, LedgerEntry entry) {
		this.transactions.executeWithoutResult((status) -> {
			this.jdbc.update(
					"UPDATE account SET id = ?, predecessor = ?, balance = ?, token = ?, owner = ? WHERE account = ?",
					entry.id(), entry.predecessor(), entry.balance(), entry.token(), entry.owner(), account);
			this.jdbc.update(
					"INSERT INTO log (account, id, predecessor, balance, token, owner) VALUES (?, ?, ?, ?, ?, ?)",
					account, entry.id(), entry.predecessor(), entry.balance(), entry.token(), entry.owner());
		});
	}

	List<LedgerEntry> entries(String account) {
		return this.jdbc.query("SELECT * FROM log WHERE account = ? ORDER BY n", JdbcLedger::entry, account);
	}

	private static LedgerEntry entry(ResultSet row, int number) throws SQLException {
		return new LedgerEntry(row.getString("id"), row.getString("predecessor"), row.getLong("balance"),
				row.getLong("token"), row.getString("owner"));
	}

	@Override
	public void beforeNextAccess(Runnable action) {
		this.dataSource.beforeNextStatement((sql) -> true, action);
	}

	@Override
	public void open() {
		this.dataSource.open();
		this.dataSource.takeStatements();
	}

}
