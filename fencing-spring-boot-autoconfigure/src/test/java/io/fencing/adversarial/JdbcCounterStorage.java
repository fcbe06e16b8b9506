package io.fencing.adversarial;

import java.util.Objects;

import javax.sql.DataSource;

import io.fencing.testing.GateDataSource;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Counters in PostgreSQL by way of a given template, each access in a transaction of its
 * own.
 */
final class JdbcCounterStorage implements CounterStorage {

	private final GateDataSource dataSource;

	private final JdbcOperations jdbc;

	private final TransactionOperations transactions;

	JdbcCounterStorage(GateDataSource dataSource, JdbcOperations jdbc, TransactionOperations transactions) {
		this.dataSource = dataSource;
		this.jdbc = jdbc;
		this.transactions = transactions;
	}

	/**
	 * By way of a template and a transaction manager that are no beans, so that nothing
	 * has decorated them.
	 * @param target the data source
	 * @return the storage
	 */
	static JdbcCounterStorage undecorated(DataSource target) {
		GateDataSource dataSource = new GateDataSource(target);
		return new JdbcCounterStorage(dataSource, new JdbcTemplate(dataSource),
				new TransactionTemplate(new DataSourceTransactionManager(dataSource)));
	}

	void createTable() {
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS counter (id VARCHAR(64) PRIMARY KEY, value BIGINT NOT NULL)");
	}

	@Override
	public void create(String id) {
		this.jdbc.update("INSERT INTO counter (id, value) VALUES (?, 0)", id);
	}

	@Override
	public long read(String id) {
		return Objects.requireNonNull(this.transactions
			.execute((status) -> this.jdbc.queryForObject("SELECT value FROM counter WHERE id = ?", Long.class, id)));
	}

	@Override
	public void write(String id, long value, Runnable insideTransaction) {
		this.transactions.executeWithoutResult((status) -> {
			this.jdbc.update("UPDATE counter SET value = ? WHERE id = ?", value, id);
			insideTransaction.run();
		});
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

	GateDataSource getDataSource() {
		return this.dataSource;
	}

}
