package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.HeldResource;
import io.fencing.InvalidFencedOperationException;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.fence.Fence;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.StorageConnections;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The fence of one relational database: one row for each resource in a table next to the
 * protected data. Claims are transactions of their own; holds are locks in the
 * transactions of the application, taken by {@link HoldingTransactionListener} and
 * {@link FencedStatements}. Thread-safe.
 *
 * <p>
 * H2 has no shared row locks. There a transaction nested in another one of the same
 * operation rests on the outer one's lock, and two tasks that carry one operation to
 * different threads exclude each other: the second one is refused as a conflict.
 */
public final class JdbcFence implements Fence {

	private static final SQLExceptionSubclassTranslator TRANSLATOR = new SQLExceptionSubclassTranslator();

	// a claim that waits as long as it may tells what it waits for
	private static final Duration BEYOND_ADMISSION = Duration.ofSeconds(1);

	private final @Nullable String name;

	private final DataSource dataSource;

	private final JdbcFenceSettings settings;

	private final FencingListeners listeners;

	private final Set<String> managers;

	private final FenceClaim claim;

	private final FenceHold hold = new FenceHold(this);

	private final JoinableTransactions joinable = new JoinableTransactions(this);

	private final OwnTransactions ownTransactions;

	private final FenceCleanup cleanup;

	private volatile @Nullable FenceTable table;

	private volatile boolean replica;

	/**
	 * Create a fence. The database is not contacted before the first claim.
	 * @param name the low-cardinality name of the storage, {@code null} for that of its
	 * dialect
	 * @param dataSource the very object that transactions are bound to
	 * @param settings the settings
	 * @param listeners told of admissions and rejections
	 */
	public JdbcFence(@Nullable String name, DataSource dataSource, JdbcFenceSettings settings,
			FencingListeners listeners) {
		this(name, dataSource, settings, listeners, Set.of());
	}

	/**
	 * Create a fence whose transaction managers are known.
	 * @param name the low-cardinality name of the storage, {@code null} for that of its
	 * dialect
	 * @param dataSource the very object that transactions are bound to
	 * @param settings the settings
	 * @param listeners told of admissions and rejections
	 * @param managers the bean names of its transaction managers
	 */
	public JdbcFence(@Nullable String name, DataSource dataSource, JdbcFenceSettings settings,
			FencingListeners listeners, Set<String> managers) {
		this.managers = Set.copyOf(managers);
		this.name = name;
		this.dataSource = ManagedDataSources.unwrap(dataSource);
		this.settings = settings;
		this.listeners = listeners;
		this.claim = new FenceClaim(this);
		this.ownTransactions = new OwnTransactions(this);
		this.cleanup = new FenceCleanup(this);
	}

	@Override
	public String getStorage() {
		FenceTable table = this.table;
		if (this.name != null) {
			return this.name;
		}
		return (table != null) ? table.getDialect().getName() : "jdbc";
	}

	/**
	 * The data source whose database is fenced.
	 * @return the data source that transactions are bound to
	 */
	public DataSource getDataSource() {
		return this.dataSource;
	}

	/**
	 * The data sources that have a fence table each: what a routing one may lead to, else
	 * the data source itself.
	 * @return at least one
	 */
	public Collection<DataSource> getTargets() {
		if (!(this.dataSource instanceof AbstractRoutingDataSource routing)) {
			return List.of(this.dataSource);
		}
		Set<DataSource> targets = new LinkedHashSet<>(routing.getResolvedDataSources().values());
		DataSource standard = routing.getResolvedDefaultDataSource();
		if (standard != null) {
			targets.add(standard);
		}
		return targets;
	}

	JdbcFenceSettings getSettings() {
		return this.settings;
	}

	FencingListeners getListeners() {
		return this.listeners;
	}

	@Override
	public boolean isManagedBy(String transactionManager) {
		// with several, one cannot suspend what another has begun
		return this.managers.equals(Set.of(transactionManager));
	}

	@Override
	public @Nullable CallerTransaction inspect(String operation, boolean ownTransaction) {
		return this.joinable.inspect(operation, ownTransaction);
	}

	@Override
	public void claim(OperationContext context) {
		this.claim.claim(context);
	}

	@Override
	public Observation observe(OperationContext context) {
		// never takes a second connection from the pool while the thread has one
		return TransactionSynchronizationManager.hasResource(this.dataSource) ? Observation.UNKNOWN
				: this.claim.observe(context);
	}

	/**
	 * Try the fence table out; nothing of that stays.
	 * @param target the data source, or one that it routes to
	 * @throws InvalidFencedOperationException if the table is missing or not what it must
	 * be, or the database cannot be fenced
	 * @throws DataAccessException if the database cannot be asked
	 */
	public void verify(DataSource target) {
		new FenceTrial(this).run(target);
	}

	/**
	 * Remove the rows that are older than the retention, in bounded batches. Rows that
	 * are in use stay; several nodes may do so at once.
	 * @return the number of rows removed
	 * @throws DataAccessException if the database fails; what was removed stays so
	 */
	public int removeExpired() {
		return this.cleanup.run();
	}

	/**
	 * Connections to its database, for what is kept next to the fence.
	 * @return the connections
	 */
	public StorageConnections getConnections() {
		return new FencedStorageConnections(this);
	}

	/**
	 * Its transaction managers.
	 * @return their bean names, as far as they are known
	 */
	public Set<String> getManagers() {
		return this.managers;
	}

	FenceHold hold() {
		return this.hold;
	}

	OwnTransactions ownTransactions() {
		return this.ownTransactions;
	}

	/**
	 * The fence table, in the dialect of the database behind a connection.
	 * @param connection any connection of the data source
	 * @return the table
	 * @throws SQLException if the database does not tell what it is
	 * @throws InvalidFencedOperationException if it cannot be fenced
	 */
	FenceTable table(Connection connection) throws SQLException {
		FenceTable table = this.table;
		if (table == null) {
			table = new FenceTable(this.settings.dialects().find(getStorage(), connection), this.settings.table(),
					this.settings.admissionTimeout().plus(BEYOND_ADMISSION));
			this.table = table;
		}
		return table;
	}

	/**
	 * The dialect.
	 * @return the dialect, {@code null} before the first claim
	 */
	@Nullable DatabaseDialect getDialect() {
		FenceTable table = this.table;
		return (table != null) ? table.getDialect() : this.settings.dialects().getChosen();
	}

	boolean sharesLocks() {
		DatabaseDialect dialect = getDialect();
		return dialect != null && dialect.sharesLocks();
	}

	boolean isMarking() {
		DatabaseDialect dialect = getDialect();
		return dialect != null && dialect.transactionIdentity().isBySavepoint();
	}

	/**
	 * Note that this may be a replica of another storage, or several: it cannot be
	 * written to, and was named although no transaction manager drives it.
	 * @param ex the error of a claim
	 * @return whether it may be one
	 */
	boolean noteReplica(SQLException ex) {
		if (!this.managers.isEmpty() || !isReadOnly(ex)) {
			return false;
		}
		this.replica = true;
		return true;
	}

	/**
	 * Whether a claim has found a replica.
	 * @return whether it has
	 */
	boolean isReplica() {
		return this.replica;
	}

	/**
	 * Whether an error shows that the database can only be read.
	 * @param ex the error of a write
	 * @return whether it does
	 */
	boolean isReadOnly(SQLException ex) {
		DatabaseDialect dialect = getDialect();
		return dialect != null && dialect.isReadOnly(ex);
	}

	void admitted(OperationContext context, Duration took) {
		this.listeners.onAdmitted(context.getOperation(), getStorage(), took);
	}

	void rejected(OperationContext context, RejectionReason reason) {
		this.listeners.onRejected(context.getOperation(), getStorage(), reason);
	}

	StaleTokenException refusal(OperationContext context, HeldResource held, RejectionReason reason,
			@Nullable Long accepted) {
		rejected(context, reason);
		return new StaleTokenException(context.getOperation(), held, getStorage(), reason, accepted);
	}

	/**
	 * Translate a failure that says nothing about the token.
	 * @param task what was tried
	 * @param ex the failure
	 * @return the exception to throw
	 */
	RuntimeException translate(String task, SQLException ex) {
		DatabaseDialect dialect = getDialect();
		if (dialect != null && dialect.isMissingTable(ex)) {
			return new InvalidFencedOperationException("Table '" + this.settings.table() + "' of storage '"
					+ getStorage() + "' is missing; run the statements of 'classpath:" + dialect.getSchemaScript()
					+ "' in your migrations, or set 'fencing.jdbc.initialize-schema=always'", ex);
		}
		if (isReadOnly(ex)) {
			return new PermissionDeniedDataAccessException("Fence " + task + ": storage '" + getStorage()
					+ "' can only be read, so that nothing can be claimed there; name it in "
					+ "'fencing.jdbc.excluded-storages' if operations do not write to it", ex);
		}
		DataAccessException translated = TRANSLATOR.translate("Fence " + task, null, ex);
		return (translated != null) ? translated : new UncategorizedSQLException("Fence " + task, null, ex);
	}

}
