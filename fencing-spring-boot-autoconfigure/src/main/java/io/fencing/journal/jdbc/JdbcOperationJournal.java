package io.fencing.journal.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationTransaction;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StorageConnections;
import io.fencing.jdbc.StorageConnections.ConnectionWork;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalFailureException;
import io.fencing.journal.JournalMove;
import io.fencing.journal.JournalTransaction;
import io.fencing.journal.OpenOperation;
import io.fencing.journal.OperationJournal;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * The journal in a table of a fenced database. What it writes outside of an attempt's
 * transaction is one committed statement on a connection of its own. Thread-safe.
 */
public final class JdbcOperationJournal implements OperationJournal {

	// integrity constraint violation: the row is there already
	private static final String DUPLICATE = "23";

	private static final String RECORD_END = "Record of the end of an operation";

	private static final int BATCH = 100;

	private static final List<OperationState> FORGOTTEN = Arrays.stream(OperationState.values())
		.filter((state) -> state.after(JournalMove.FORGET).isPresent())
		.toList();

	private final Supplier<StorageConnections> connections;

	private final OperationTable table;

	private final OperationTableScan scan;

	private final Function<@Nullable String, PlatformTransactionManager> managers;

	private final SQLExceptionTranslator translator = new SQLExceptionSubclassTranslator();

	/**
	 * Create a journal.
	 * @param connections gives the connections of the fenced storage that it lives in;
	 * asked at first use
	 * @param settings the settings
	 * @param managers finds a transaction manager of that storage by its bean name, that
	 * of the storage for {@code null}
	 */
	public JdbcOperationJournal(Supplier<StorageConnections> connections, JdbcJournalSettings settings,
			Function<@Nullable String, PlatformTransactionManager> managers) {
		this.connections = SingletonSupplier.of(connections);
		this.table = new OperationTable(settings.table(), settings.timeout(), settings.checkAfter());
		this.scan = new OperationTableScan(this.table);
		this.managers = managers;
	}

	@Override
	public void check(String operation, OperationTransaction transaction) {
		Assert.notNull(this.managers.apply(transaction.manager()), "A manager is found or refused");
		// one of another manager, that of a message broker for instance, is no obstacle
		if (TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.hasResource(this.connections.get().getDataSource())) {
			throw new InvalidFencedOperationException(operation, null,
					"a transaction of its caller is open, with which its record could be rolled back",
					"call it outside of transactions");
		}
	}

	@Override
	public @Nullable JournalEntry find(OperationKey key) {
		return execute("look an identity up", (connection) -> this.table.find(connection, key));
	}

	@Override
	public boolean start(JournalEntry attempt, @Nullable JournalEntry seen) {
		check((seen != null) ? seen.state() : OperationState.ABSENT,
				(seen != null && seen.state() == OperationState.RUNNING) ? JournalMove.TAKE_OVER : JournalMove.START);
		return execute("start an attempt", (connection) -> {
			DatabaseDialect dialect = this.connections.get().getDialect(connection);
			if (seen != null) {
				return this.table.restart(connection, dialect, attempt, seen);
			}
			try {
				this.table.insert(connection, dialect, attempt);
				return true;
			}
			catch (SQLException ex) {
				if (isDuplicate(ex)) {
					return false;
				}
				throw ex;
			}
		});
	}

	static boolean isDuplicate(SQLException ex) {
		return ex.getSQLState() != null && ex.getSQLState().startsWith(DUPLICATE);
	}

	@Override
	public boolean move(JournalEntry seen, JournalMove move, byte @Nullable [] result) {
		OperationState next = check(seen.state(), move);
		return execute("record an end", (connection) -> this.table.move(connection,
				this.connections.get().getDialect(connection), seen, next, result));
	}

	private static OperationState check(OperationState state, JournalMove move) {
		return state.after(move)
			.orElseThrow(() -> new IllegalStateException("From state " + state + " there is no move " + move));
	}

	@Override
	public JournalTransaction begin(JournalEntry attempt, OperationTransaction transaction) {
		return JdbcJournalTransaction.begin(this, attempt, this.managers.apply(transaction.manager()), transaction);
	}

	/**
	 * Record the end of an attempt in the transaction that is active on this thread.
	 * @param attempt the attempt
	 * @param move how it ended
	 * @param result what to record
	 * @return whether its row was still that of the attempt
	 */
	boolean moveInTransaction(JournalEntry attempt, JournalMove move, byte @Nullable [] result) {
		OperationState next = check(attempt.state(), move);
		StorageConnections storage = this.connections.get();
		try {
			return storage.executeInTransaction(
					(connection) -> this.table.move(connection, storage.getDialect(connection), attempt, next, result));
		}
		catch (SQLException ex) {
			// a part of the work's transaction, so that it fails as the work does
			DataAccessException translated = this.translator.translate(RECORD_END, null, ex);
			throw (translated != null) ? translated : new UncategorizedSQLException(RECORD_END, null, ex);
		}
	}

	@Override
	public List<OpenOperation> findDue(String namespace, Collection<String> decided, int limit) {
		return execute("find what is due", (connection) -> this.scan.findDue(connection,
				this.connections.get().getDialect(connection), namespace, decided, limit));
	}

	@Override
	public boolean putOff(OpenOperation seen, Duration delay) {
		return execute("put a check off", (connection) -> this.scan.putOff(connection,
				this.connections.get().getDialect(connection), seen, delay));
	}

	@Override
	public List<OpenOperation> findUndecided(String namespace, int limit) {
		return execute("find what is undecided", (connection) -> this.scan.findUndecided(connection,
				this.connections.get().getDialect(connection), namespace, limit));
	}

	@Override
	public void verify() {
		execute("take a row", (connection) -> {
			new JournalTrial(this.table, this.scan).run(connection, this.connections.get().getDialect(connection));
			return true;
		});
	}

	private <T extends @Nullable Object> T execute(String task, ConnectionWork<T> work) {
		try {
			return this.connections.get().execute((connection) -> execute(connection, work));
		}
		catch (SQLException ex) {
			throw new JournalFailureException(task, ex);
		}
	}

	// asked on the connection that is there: where there is none, nobody waits for
	// another one
	private <T extends @Nullable Object> T execute(Connection connection, ConnectionWork<T> work) throws SQLException {
		try {
			return work.execute(connection);
		}
		catch (SQLException ex) {
			DatabaseDialect dialect = dialect(connection);
			if (dialect != null && dialect.isMissingTable(ex)) {
				throw new InvalidFencedOperationException("Table '" + this.table.getName()
						+ "' of the journal is missing; run the statements of 'classpath:" + dialect.getSchemaScript()
						+ "' in your migrations, or set 'fencing.jdbc.initialize-schema=always'", ex);
			}
			throw ex;
		}
	}

	private @Nullable DatabaseDialect dialect(Connection connection) {
		try {
			return this.connections.get().getDialect(connection);
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Forget what has ended and is older than the retention, in bounded batches. What is
	 * under way or undecided stays. Several nodes may do so at once.
	 * @param retention how long it is remembered
	 * @return the number of rows removed; none where the table is missing, since nothing
	 * has an identity there
	 * @throws JournalFailureException if the database does not answer
	 */
	public int removeExpired(Duration retention) {
		int removed = 0;
		int batch;
		do {
			try {
				batch = this.<Integer>execute("remove what has expired",
						(connection) -> removeBatch(connection, retention));
			}
			catch (InvalidFencedOperationException ex) {
				return removed;
			}
			removed += batch;
		}
		while (batch == BATCH && !Thread.currentThread().isInterrupted());
		return removed;
	}

	private int removeBatch(Connection connection, Duration retention) throws SQLException {
		DatabaseDialect dialect = this.connections.get().getDialect(connection);
		int removed = 0;
		for (String key : this.scan.findUnchanged(connection, dialect, FORGOTTEN, retention, BATCH)) {
			try {
				removed += this.scan.deleteUnchanged(connection, dialect, key, FORGOTTEN, retention);
			}
			catch (SQLException ex) {
				if (!dialect.isConflict(ex)) {
					throw ex;
				}
				// somebody needs this row; the next run looks at it again
			}
		}
		return removed;
	}

}
