package io.fencing.lease;

import io.fencing.FencingListeners;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the world that a lease is lost, once for each lease. Thread-safe.
 */
final class LossReporter {

	private static final Logger logger = LoggerFactory.getLogger(LossReporter.class);

	private final FencingListeners listeners;

	/**
	 * Create a reporter.
	 * @param listeners those who are told
	 */
	LossReporter(FencingListeners listeners) {
		this.listeners = listeners;
	}

	/**
	 * Report the loss of a lease if it is lost and nobody has reported it yet.
	 * @param lease the lease
	 */
	void reportIfLost(Lease lease) {
		if (lease.tellLoss()) {
			logger.warn(
					"Operation '{}' on resource {}: the lease with token {} is lost ({}); what was not yet begun "
							+ "at a storage is refused, call the whole operation again",
					lease.getOperation(), lease.getResource(), lease.getToken(), lease.getLossReason());
			this.listeners.onLost(lease.getOperation(), lease);
		}
	}

}
