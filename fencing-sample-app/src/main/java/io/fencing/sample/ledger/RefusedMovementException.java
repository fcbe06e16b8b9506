package io.fencing.sample.ledger;

/**
 * The movement is understood but cannot be made. A recorded answer is made again from its
 * message: so that is the name of the reason, which stays when its text is changed.
 */
public class RefusedMovementException extends RuntimeException {

	private final Reason reason;

	RefusedMovementException(Reason reason) {
		super(reason.name());
		this.reason = reason;
	}

	RefusedMovementException(String reason) {
		this(Reason.valueOf(reason));
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
		AMOUNT_MISSING("The amount is missing"),

		/**
		 * The amount is zero or negative.
		 */
		AMOUNT_NOT_POSITIVE("The amount must be above zero"),

		/**
		 * The amount has more than two decimals.
		 */
		AMOUNT_TOO_PRECISE("The amount has more than 2 decimals"),

		/**
		 * The amount, or the balance it would lead to, has more than 17 digits before the
		 * point.
		 */
		AMOUNT_TOO_LARGE("An account holds at most 17 digits before the point"),

		/**
		 * The amount is beyond the balance.
		 */
		INSUFFICIENT_BALANCE("The amount is beyond the balance"),

		/**
		 * An account is not named, or not by 1 to 64 letters, digits and
		 * {@code . _ : @ -}.
		 */
		ACCOUNT_INVALID("An account is named by 1 to 64 letters, digits and . _ : @ -"),

		/**
		 * Both accounts of a transfer are the same.
		 */
		SAME_ACCOUNT("A transfer needs two different accounts");

		private final String text;

		Reason(String text) {
			this.text = text;
		}

		/**
		 * The reason in words.
		 * @return a sentence
		 */
		public String getText() {
			return this.text;
		}

	}

}
