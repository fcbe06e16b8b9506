package io.fencing.operation;

import java.util.EnumSet;
import java.util.Set;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencingListeners;
import io.fencing.HeldResource;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.context.OperationContext;
import io.fencing.lease.LeaseManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a stale token from a coordinator that went back: if a storage refuses a claim as
 * too low or too old while the lease is ours, the clock of the coordinator was set back,
 * and it has lost the last token or never had one. It is then lifted above the storage,
 * or to the storage's time, so that the next attempt succeeds. Thread-safe.
 */
final class Regressions {

	private static final Logger logger = LoggerFactory.getLogger(Regressions.class);

	private static final Set<RejectionReason> TOLD_OF_CLAIMS = EnumSet.of(RejectionReason.STALE,
			RejectionReason.EXPIRED);

	private final LeaseManager leases;

	private final FencingListeners listeners;

	Regressions(LeaseManager leases, FencingListeners listeners) {
		this.leases = leases;
		this.listeners = listeners;
	}

	StaleTokenException examine(StaleTokenException refusal, OperationContext context) {
		Long accepted = refusal.getAcceptedToken();
		if (accepted == null || !TOLD_OF_CLAIMS.contains(refusal.getReason())) {
			return refusal;
		}
		for (HeldResource held : context.getHeld()) {
			if (refusal.concerns(held.getResource()) && this.leases.isOurs(held)) {
				return regression(refusal, context.getOperation(), held, accepted);
			}
		}
		return refusal;
	}

	private StaleTokenException regression(StaleTokenException refusal, String operation, HeldResource held,
			long accepted) {
		StaleTokenException regression = new StaleTokenException(operation, held, refusal.getStorage(),
				RejectionReason.REGRESSION, accepted);
		regression.addSuppressed(refusal);
		logger.warn("{}", regression.getMessage());
		this.listeners.onRegression(operation, refusal.getStorage(), held.getToken().value(), accepted);
		try {
			this.leases.lift(held.getResource(), accepted);
		}
		catch (CoordinatorUnavailableException ex) {
			regression.addSuppressed(ex);
		}
		return regression;
	}

}
