package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
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
 * exactly the operation's (token, owner). It never waits and never raises a fence.
 * Thread-safe.
 */
final class FenceHold {

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
		try {
			Connection connection = holder.getConnection();
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
			throw failure(context, held, ex);
		}
	}

	private void checkManualCommit(OperationContext context, Connection connection) throws SQLException {
		if (connection.getAutoCommit()) {
			throw new InvalidFencedOperationException(context.getOperation(), null,
					"the connection bound to the transaction on storage '" + this.fence.getStorage()
							+ "' is in auto-commit mode, a hold on it would end at once",
					"let the transaction manager or the pool switch auto-commit off");
		}
	}

	private void lock(OperationContext context, Collection<HeldResource> held, Connection connection, FenceTable table,
			boolean readOnly, OuterHold outer) throws SQLException {
		Map<String, FencingToken> locked = table.lock(connection, held);
		for (HeldResource one : held) {
			FencingToken stored = locked.get(one.getResource().getKey());
			boolean skipped = stored == null;
			if (skipped) {
				stored = table.read(connection, one.getResource());
			}
			checkEqual(context, one, stored, readOnly);
			if (skipped && (table.getDialect().sharesLocks() || !outer.holds(one))) {
				throw conflict(context, one, null);
			}
		}
	}

	private void checkEqual(OperationContext context, HeldResource held, @Nullable FencingToken stored,
			boolean readOnly) {
		if (!held.getToken().equals(stored)) {
			boolean behind = stored == null || stored.value() < held.getToken().value();
			RejectionReason whenBehind = readOnly ? RejectionReason.LAGGING : RejectionReason.MISSING;
			throw this.fence.refusal(context, held, behind ? whenBehind : RejectionReason.STALE, stored);
		}
	}

	private FencingException failure(OperationContext context, Collection<HeldResource> held, Exception ex) {
		RuntimeException translated = (ex instanceof SQLException sql) ? this.fence.translate("hold", sql)
				: (RuntimeException) ex;
		// nothing is known of the fence: as with a conflict, call again
		return (translated instanceof FencingException fencing) ? fencing
				: conflict(context, held.iterator().next(), translated);
	}

	private AdmissionTimeoutException conflict(OperationContext context, HeldResource held,
			@Nullable RuntimeException cause) {
		this.fence.rejected(context, RejectionReason.CONFLICT);
		return new AdmissionTimeoutException(context.getOperation(), held.getResource(), this.fence.getStorage(),
				Duration.ZERO, cause);
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
