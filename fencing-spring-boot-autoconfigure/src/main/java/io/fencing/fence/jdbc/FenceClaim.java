package io.fencing.fence.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import io.fencing.AdmissionTimeoutException;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LeaseLostException;
import io.fencing.Observation;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Raises the fence of each resource of an operation, in transactions of its own, before
 * the operation reads anything. Thread-safe.
 *
 * <p>
 * A claim never queues for a row: while an earlier holder's transaction keeps the row
 * locked, the connection goes back to its pool between two tries. A token that is too old
 * is told so at once, also while the row is locked. A replica cannot be claimed; it has
 * to show what was claimed elsewhere.
 */
final class FenceClaim {

	private static final Logger logger = LoggerFactory.getLogger(FenceClaim.class);

	private final JdbcFence fence;

	private final ClaimConnections connections;

	FenceClaim(JdbcFence fence) {
		this.fence = fence;
		this.connections = new ClaimConnections(fence.getDataSource());
	}

	/**
	 * Claim every resource of the context, in its order.
	 * @param context the context
	 * @throws StaleTokenException if a fence is newer, or that of a replica stayed behind
	 * @throws AdmissionTimeoutException if a fence stayed locked
	 * @throws LeaseLostException if a lease is lost by now
	 */
	void claim(OperationContext context) {
		long start = System.nanoTime();
		Backoff backoff = new Backoff();
		Attempt attempt = attempt(context, 0);
		while (attempt.claimed < context.getHeld().size()) {
			HeldResource locked = context.getHeld().get(attempt.claimed);
			long waited = System.nanoTime() - start;
			if (waited >= this.fence.getSettings().admissionTimeout().toNanos() || !backoff.pause()) {
				if (attempt.replica) {
					throw this.fence.refusal(context, locked, RejectionReason.LAGGING, null);
				}
				this.fence.rejected(context, RejectionReason.CONFLICT);
				throw new AdmissionTimeoutException(context.getOperation(), locked.getResource(),
						this.fence.getStorage(), Duration.ofNanos(waited), attempt.conflict);
			}
			attempt = attempt(context, attempt.claimed);
		}
		this.fence.admitted(context, Duration.ofNanos(System.nanoTime() - start));
	}

	/**
	 * Claim what can be claimed at once.
	 * @param context the context
	 * @return what an enforcing claim would have ended in
	 */
	Observation observe(OperationContext context) {
		long start = System.nanoTime();
		try {
			if (attempt(context, 0).claimed < context.getHeld().size()) {
				return Observation.UNKNOWN;
			}
			this.fence.admitted(context, Duration.ofNanos(System.nanoTime() - start));
			return Observation.ADMITTED;
		}
		catch (StaleTokenException | LeaseLostException ex) {
			return Observation.REFUSED;
		}
		catch (RuntimeException ex) {
			logger.debug("Operation '{}' could not be observed at storage '{}'", context.getOperation(),
					this.fence.getStorage(), ex);
			return Observation.UNKNOWN;
		}
	}

	private Attempt attempt(OperationContext context, int claimed) {
		for (HeldResource held : context.getHeld()) {
			if (held.isLost()) {
				this.fence.rejected(context, RejectionReason.LOST);
				throw new LeaseLostException(context.getOperation(), held);
			}
		}
		try {
			return this.connections.execute((connection) -> attempt(context, claimed, connection));
		}
		catch (SQLException ex) {
			throw this.fence.translate("claim", ex);
		}
	}

	private Attempt attempt(OperationContext context, int claimed, Connection connection) throws SQLException {
		FenceTable table = this.fence.table(connection);
		List<? extends HeldResource> held = context.getHeld();
		for (int i = claimed; i < held.size(); i++) {
			try {
				if (!claim(context, held.get(i), connection, table)) {
					return new Attempt(i, null, false);
				}
			}
			catch (SQLException ex) {
				boolean replica = this.fence.noteReplica(ex);
				if (!replica && !table.getDialect().isConflict(ex)) {
					throw ex;
				}
				if (!replica || !isShown(context, held.get(i), table.read(connection, held.get(i).getResource()))) {
					return new Attempt(i, ex, replica);
				}
			}
		}
		return new Attempt(held.size(), null, false);
	}

	// decided from the stored row: update counts lie with some drivers
	private boolean claim(OperationContext context, HeldResource held, Connection connection, FenceTable table)
			throws SQLException {
		if (table.raise(connection, held)) {
			return true;
		}
		FencingToken stored = table.read(connection, held.getResource());
		if (stored == null) {
			if (table.insert(connection, held, this.fence.getSettings().retention())) {
				return true;
			}
			stored = table.read(connection, held.getResource());
			if (stored == null) {
				throw this.fence.refusal(context, held, RejectionReason.EXPIRED, table.now(connection));
			}
		}
		return isShown(context, held, stored);
	}

	private boolean isShown(OperationContext context, HeldResource held, @Nullable FencingToken stored) {
		if (stored == null || stored.value() < held.getToken().value()) {
			return false;
		}
		if (!stored.equals(held.getToken())) {
			throw this.fence.refusal(context, held, RejectionReason.STALE, stored.value());
		}
		return true;
	}

	/**
	 * How far one try came.
	 *
	 * @param claimed how many resources are claimed by now
	 * @param conflict the error that stopped it, if there was one
	 * @param replica whether it was stopped by a replica that does not show the claim
	 */
	private record Attempt(int claimed, @Nullable SQLException conflict, boolean replica) {
	}

}
