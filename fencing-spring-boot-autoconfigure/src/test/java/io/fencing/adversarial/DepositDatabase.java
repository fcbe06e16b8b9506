package io.fencing.adversarial;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.fencing.testing.TestDatabase;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Looks at what deposits have left in a database, by no fence and no proxy.
 */
final class DepositDatabase {

	// in one statement, so that the rows and the effects are those of one moment
	private static final String ROWS = "SELECT o.identity, o.state, o.attempts, "
			+ "(SELECT COUNT(*) FROM effect e WHERE e.identity = o.identity) FROM fencing_operation o WHERE o.identity LIKE ?";

	private static final RowMapper<Row> ROW = (row, number) -> new Row(row.getString(1), row.getString(2),
			row.getInt(3), row.getInt(4));

	private final String url;

	private final JdbcTemplate jdbc;

	DepositDatabase(TestDatabase database) {
		this.url = database.newUrl();
		this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.url));
		this.jdbc.execute("CREATE TABLE account (id VARCHAR(200) PRIMARY KEY, balance BIGINT NOT NULL)");
		// no key: whatever is there twice is to be seen
		this.jdbc.execute("CREATE TABLE effect (identity VARCHAR(200) NOT NULL)");
	}

	String getUrl() {
		return this.url;
	}

	/**
	 * Open the accounts of some deposits.
	 */
	void open(Collection<Deposit> deposits) {
		deposits.stream()
			.map(Deposit::account)
			.distinct()
			.forEach((account) -> this.jdbc.update("INSERT INTO account VALUES (?, 0)", account));
	}

	/**
	 * What there is of the identities that begin with a text.
	 * @return a row of the journal for each identity that has one
	 */
	Map<String, Row> read(String prefix) {
		Map<String, Row> rows = new HashMap<>();
		this.jdbc.query(ROWS, ROW, prefix + "-%").forEach((row) -> rows.put(row.identity(), row));
		return rows;
	}

	/**
	 * Have everything looked after that has no end.
	 */
	void makeDue() {
		this.jdbc.update("UPDATE fencing_operation SET check_at = started_at WHERE state IN ('RUNNING', 'UNDECIDED')");
	}

	/**
	 * Compare what deposits have left with what the journal says of them.
	 * @param prefix what their identities begin with
	 * @param deposits the deposits
	 * @return what is wrong, empty if nothing is
	 */
	List<String> findContradictions(String prefix, Collection<Deposit> deposits) {
		Map<String, Row> rows = read(prefix);
		List<String> wrong = new ArrayList<>();
		for (Deposit deposit : deposits) {
			Row row = rows.getOrDefault(deposit.id(), new Row(deposit.id(), "ABSENT", 0, 0));
			boolean ended = row.state().equals(deposit.kind().getState());
			if (row.effects() != (ended ? deposit.kind().getEffects() : 0)) {
				wrong.add(deposit + " " + row);
			}
		}
		return wrong;
	}

	/**
	 * Compare the ends of deposits with what was to come out.
	 * @param prefix what their identities begin with
	 * @param deposits the deposits, all of which have been answered
	 * @return what is wrong, empty if nothing is
	 */
	List<String> findWrongEnds(String prefix, Collection<Deposit> deposits) {
		List<String> wrong = findContradictions(prefix, deposits);
		Map<String, Row> rows = read(prefix);
		Map<String, Long> balances = new HashMap<>();
		for (Deposit deposit : deposits) {
			Row row = rows.get(deposit.id());
			if (row == null || !row.state().equals(deposit.kind().getState())) {
				wrong.add(deposit + " ends as " + row);
			}
			balances.merge(deposit.account(), (long) deposit.kind().getEffects(), Long::sum);
		}
		balances.forEach((account, expected) -> {
			Long balance = this.jdbc.queryForObject("SELECT balance FROM account WHERE id = ?", Long.class, account);
			if (!expected.equals(balance)) {
				wrong.add("balance of " + account + " is " + balance + ", not " + expected);
			}
		});
		return wrong;
	}

	/**
	 * What there is of an identity.
	 *
	 * @param identity the identity
	 * @param state its state in the journal
	 * @param attempts how many attempts have begun
	 * @param effects how often its work is in the data
	 */
	record Row(String identity, String state, int attempts, int effects) {

	}

}
