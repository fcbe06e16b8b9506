package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import io.fencing.AdmissionTimeoutException;
import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.InvalidFencedOperationException;
import io.fencing.RejectionReason;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * Takes holds: locks fences to the end of a transaction and demands that they show
 * exactly the operation's (token, owner). It waits for a moment at most and never raises
 * a fence. Thread-safe.
 */
final class FenceHold {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

	private final JdbcFence fence;

	FenceHold(JdbcFence fence) {
		this.fence = fence;
	}

	/**
	 * Take a hold.
	 * @param context the operation
	 * @param held what to hold, sorted
	 * @param holder the connection of the transaction
	 * @param readOnly whether the transaction was declared read-only
	 * @param outer tells whether another transaction of this thread, which cannot end
	 * before this one, holds a fence that cannot be shared
	 * @return the identity of the transaction where the server may replace it under its
	 * client
	 * @throws io.fencing.StaleTokenException if a fence shows another token
	 * @throws AdmissionTimeoutException if a claim is under way
	 * @throws InvalidFencedOperationException if the connection is in no transaction
	 */
	@Nullable String take(OperationContext context, Collection<HeldResource> held, ConnectionHolder holder, boolean readOnly,
			OuterHold outer) {
		long start = System.nanoTime();
		try (OwnStatements.Scope own = OwnStatements.open(holder)) {
			Connection connection = connection(holder);
			Watched.tellHold(holder.getConnection(), holder);
			checkManualCommit(context, connection);
			FenceTable table = this.fence.table(connection);
			Map<String, FencingToken> shown = readOnly ? table.readInReadOnlyTransaction(connection, held) : null;
			if (shown != null) {
				for (HeldResource one : held) {
					checkEqual(context, one, shown.get(one.getResource().getKey()), true);
				}
			}
			else {
				lock(context, held, connection, table, readOnly, outer);
			}
			return table.transactionId(connection);
		}
		catch (FencingException ex) {
			throw ex;
		}
		catch (SQLException | RuntimeException ex) {
			throw failure(context, held, Duration.ofNanos(System.nanoTime() - start), ex);
		}
	}

	/**
	 * Mark a transaction, so that it is known again.
	 * @param context the operation
	 * @param held what it holds
	 * @param holder the connection of the transaction
	 */
	void mark(OperationContext context, Collection<HeldResource> held, ConnectionHolder holder) {
		try {
			Connection connection = connection(holder);
			this.fence.table(connection).mark(connection);
		}
		catch (SQLException | RuntimeException ex) {
			throw failure(context, held, Duration.ZERO, ex);
		}
	}

	/**
	 * Look whether a transaction is still the one that was marked, and remove the mark.
	 * @param context the operation
	 * @param held what it holds
	 * @param holder the connection of the transaction
	 * @return whether it is
	 */
	boolean releaseMark(OperationContext context, Collection<HeldResource> held, ConnectionHolder holder) {
		try {
			Connection connection = connection(holder);
			return this.fence.table(connection).releaseMark(connection);
		}
		catch (SQLException | RuntimeException ex) {
			throw failure(context, held, Duration.ZERO, ex);
		}
	}

	/**
	 * Check that a commit will not be a silent roll back.
	 * @param context the operation
	 * @param held what it holds
	 * @param holder the connection of the transaction
	 * @throws InvalidFencedOperationException if a statement in the transaction has
	 * failed
	 */
	void checkNotFailed(OperationContext context, Collection<HeldResource> held, ConnectionHolder holder) {
		try {
			Connection connection = connection(holder);
			if (this.fence.table(connection).getDialect().hasFailed(connection)) {
				throw new InvalidFencedOperationException(context.getOperation(), null,
						"the transaction on storage '" + this.fence.getStorage() + "' would be rolled back by its "
								+ "commit, since the error of a statement in it was caught",
						"let the error leave the transaction, or put the statement into a savepoint ('NESTED')");
			}
		}
		catch (FencingException ex) {
			throw ex;
		}
		catch (SQLException | RuntimeException ex) {
			throw failure(context, held, Duration.ZERO, ex);
		}
	}

	/**
	 * Check before a read in no transaction, where nothing can be held, that what was
	 * claimed is there: the connection may lead to a replica that lags.
	 * @param context the operation
	 * @param connection the connection
	 * @throws io.fencing.StaleTokenException if it is not
	 */
	void checkShown(OperationContext context, Connection connection) {
		Collection<HeldResource> held = context.getAllHeld();
		try (OwnStatements.Scope own = OwnStatements.open()) {
			FenceTable table = this.fence.table(connection);
			for (HeldResource one : held) {
				checkEqual(context, one, table.read(connection, one.getResource()), true);
			}
		}
		catch (FencingException ex) {
			throw context.refuse(ex);
		}
		catch (SQLException | RuntimeException ex) {
			throw context.refuse(failure(context, held, Duration.ZERO, ex));
		}
	}

	private static Connection connection(ConnectionHolder holder) {
		return Watched.behind(holder.getConnection());
	}

	private void checkManualCommit(OperationContext context, Connection connection) throws SQLException {
		if (connection.getAutoCommit()) {
			throw new InvalidFencedOperationException(context.getOperation(), null,
					"the connection bound to the transaction on storage '" + this.fence.getStorage()
							+ "' is in auto-commit mode, a hold on it would end at once",
					"let the transaction manager or the pool switch auto-commit off");
		}
	}

	// a claim and the clean-up lock a row for a moment only; soon it shows what came of
	// it
	private void lock(OperationContext context, Collection<HeldResource> held, Connection connection, FenceTable table,
			boolean readOnly, OuterHold outer) throws SQLException {
		long start = System.nanoTime();
		Backoff backoff = new Backoff();
		List<HeldResource> locked = tryLock(context, held, connection, table, readOnly, outer);
		while (!locked.isEmpty()) {
			Duration waited = Duration.ofNanos(System.nanoTime() - start);
			if (waited.compareTo(LONGEST_WAIT) >= 0 || !backoff.pause()) {
				throw conflict(context, locked.get(0), waited, null);
			}
			locked = tryLock(context, locked, connection, table, readOnly, outer);
		}
	}

	private List<HeldResource> tryLock(OperationContext context, Collection<HeldResource> held, Connection connection,
			FenceTable table, boolean readOnly, OuterHold outer) throws SQLException {
		List<HeldResource> lockedByOthers = new ArrayList<>();
		for (HeldResource one : held) {
			FencingToken stored = table.lock(connection, one.getResource());
			boolean skipped = stored == null;
			if (skipped) {
				stored = table.read(connection, one.getResource());
			}
			checkEqual(context, one, stored, readOnly);
			if (skipped && (table.getDialect().sharesLocks() || !outer.holds(one))) {
				lockedByOthers.add(one);
			}
		}
		return lockedByOthers;
	}

	private void checkEqual(OperationContext context, HeldResource held, @Nullable FencingToken stored,
			boolean readOnly) {
		if (!held.getToken().equals(stored)) {
			boolean behind = stored == null || stored.value() < held.getToken().value();
			RejectionReason whenBehind = readOnly ? RejectionReason.LAGGING : RejectionReason.MISSING;
			throw this.fence.refusal(context, held, behind ? whenBehind : RejectionReason.STALE,
					(stored != null) ? stored.value() : null);
		}
	}

	private FencingException failure(OperationContext context, Collection<HeldResource> held, Duration waited,
			Exception ex) {
		RuntimeException translated = (ex instanceof SQLException sql) ? this.fence.translate("hold", sql)
				: (RuntimeException) ex;
		// nothing is known of the fence: as with a conflict, call again
		return (translated instanceof FencingException fencing) ? fencing
				: conflict(context, held.iterator().next(), waited, translated);
	}

	private AdmissionTimeoutException conflict(OperationContext context, HeldResource held, Duration waited,
			@Nullable RuntimeException cause) {
		this.fence.rejected(context, RejectionReason.CONFLICT);
		return new AdmissionTimeoutException(context.getOperation(), held.getResource(), this.fence.getStorage(),
				waited, cause);
	}

	/**
	 * What other transactions of this thread hold.
	 */
	@FunctionalInterface
	interface OuterHold {

		/**
		 * Whether a suspended transaction of this thread holds a fence.
		 * @param held the resource with its token
		 * @return whether one does
		 */
		boolean holds(HeldResource held);

	}

}
