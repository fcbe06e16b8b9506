package io.fencing.sample.ledger;

/**
 * The movement is understood but cannot be made.
 */
public class RefusedMovementException extends RuntimeException {

	private final Reason reason;

	RefusedMovementException(Reason reason, String message) {
		super(message);
		this.reason = reason;
	}

	/**
	 * Why it cannot be made.
	 * @return the reason
	 */
	public Reason getReason() {
		return this.reason;
	}

	/**
	 * Why a movement cannot be made.
	 */
	public enum Reason {

		/**
		 * There is no amount.
		 */
		AMOUNT_MISSING,

		/**
		 * The amount is zero or negative.
		 */
		AMOUNT_NOT_POSITIVE,

		/**
		 * The amount has more than two decimals.
		 */
		AMOUNT_TOO_PRECISE,

		/**
		 * The amount, or the balance it would lead to, has more than 17 digits before the
		 * point.
		 */
		AMOUNT_TOO_LARGE,

		/**
		 * The amount is beyond the balance.
		 */
		INSUFFICIENT_BALANCE,

		/**
		 * An account is not named, or not by 1 to 64 letters, digits and
		 * {@code . _ : @ -}.
		 */
		ACCOUNT_INVALID,

		/**
		 * Both accounts of a transfer are the same.
		 */
		SAME_ACCOUNT

	}

}
