package io.fencing.sample.ledger;

import java.math.BigDecimal;
import java.util.regex.Pattern;

import io.fencing.sample.ledger.RefusedMovementException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * What a movement must be like, checked before anything is leased.
 */
final class MovementRules {

	private static final Pattern ACCOUNT = Pattern.compile("[\\p{L}\\p{N}._:@-]{1,64}");

	private static final int SCALE = 2;

	// NUMERIC(19, 2)
	private static final int INTEGER_DIGITS = 17;

	private MovementRules() {
	}

	static String account(@Nullable String account) {
		if (account == null || !ACCOUNT.matcher(account).matches()) {
			throw new RefusedMovementException(Reason.ACCOUNT_INVALID);
		}
		return account;
	}

	static BigDecimal amount(@Nullable BigDecimal amount) {
		if (amount == null) {
			throw new RefusedMovementException(Reason.AMOUNT_MISSING);
		}
		if (amount.signum() <= 0) {
			throw new RefusedMovementException(Reason.AMOUNT_NOT_POSITIVE);
		}
		if (amount.scale() > SCALE) {
			throw new RefusedMovementException(Reason.AMOUNT_TOO_PRECISE);
		}
		return storable(amount).setScale(SCALE);
	}

	static BigDecimal storable(BigDecimal value) {
		// not by comparing: 1E1000000000 is a short text but a very long number
		if ((long) value.precision() - value.scale() > INTEGER_DIGITS) {
			throw new RefusedMovementException(Reason.AMOUNT_TOO_LARGE);
		}
		return value;
	}

	static BigDecimal remainder(BigDecimal balance, BigDecimal amount) {
		if (amount.compareTo(balance) > 0) {
			throw new RefusedMovementException(Reason.INSUFFICIENT_BALANCE);
		}
		return balance.subtract(amount);
	}

}
