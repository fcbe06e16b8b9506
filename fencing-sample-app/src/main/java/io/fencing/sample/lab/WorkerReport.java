package io.fencing.sample.lab;

import java.math.BigDecimal;

import io.fencing.LeaseLostException;
import io.fencing.StaleTokenException;
import org.jspecify.annotations.Nullable;

/**
 * How a worker ended, as seen by its caller.
 *
 * @param outcome {@code acknowledged}, {@code refused} or {@code failed}
 * @param acknowledged the amount that its caller was told is deposited
 * @param token the token that it held, if it got one
 * @param refusedBy the storage that refused it, {@code local} if its own JVM did
 * @param error the simple name of the exception that it ended with
 * @param message the message of that exception
 */
record WorkerReport(String outcome, BigDecimal acknowledged, @Nullable Long token, @Nullable String refusedBy,
		@Nullable String error, @Nullable String message) {

	private static final BigDecimal NOTHING = new BigDecimal("0.00");

	static WorkerReport acknowledged(LabDeposit deposit) {
		return new WorkerReport("acknowledged", deposit.getAmount(), deposit.getToken(), null, null, null);
	}

	static WorkerReport failed(LabDeposit deposit, RuntimeException failure) {
		String refusedBy = refusedBy(failure);
		return new WorkerReport((refusedBy != null) ? "refused" : "failed", NOTHING, deposit.getToken(), refusedBy,
				failure.getClass().getSimpleName(), failure.getMessage());
	}

	private static @Nullable String refusedBy(RuntimeException failure) {
		if (failure instanceof StaleTokenException stale) {
			return stale.getStorage();
		}
		return (failure instanceof LeaseLostException) ? "local" : null;
	}

}
