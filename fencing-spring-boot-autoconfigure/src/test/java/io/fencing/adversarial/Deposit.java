package io.fencing.adversarial;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One logical request: add one to an account.
 *
 * @param id its identity
 * @param kind how it ends
 * @param account the account
 */
record Deposit(String id, Kind kind, String account) {

	/**
	 * Draw some.
	 * @param prefix what their identities begin with
	 * @param count how many
	 * @param accounts on how many accounts, those that begin with the same
	 * @param random what they follow from
	 * @return the deposits
	 */
	static List<Deposit> draw(String prefix, int count, int accounts, Random random) {
		List<Deposit> deposits = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			deposits.add(new Deposit(prefix + "-" + i, Kind.values()[random.nextInt(Kind.values().length)],
					prefix + "-" + random.nextInt(accounts)));
		}
		return deposits;
	}

	static Deposit parse(String text) {
		String[] parts = text.split(",");
		return new Deposit(parts[0], Kind.valueOf(parts[1]), parts[2]);
	}

	@Override
	public String toString() {
		return this.id + "," + this.kind + "," + this.account;
	}

	/**
	 * How it ends.
	 */
	enum Kind {

		/** With a receipt. */
		PLAIN("COMPLETED", 1),

		/** With a receipt, after failures that may be repeated. */
		REPEATABLE("COMPLETED", 1),

		/** With an exception that rolls back and is final. */
		REFUSED("REJECTED", 0),

		/** With an exception that does not roll back. */
		COMMITTED("REJECTED", 1);

		private final String state;

		private final int effects;

		Kind(String state, int effects) {
			this.state = state;
			this.effects = effects;
		}

		/**
		 * What the journal shows in the end.
		 */
		String getState() {
			return this.state;
		}

		/**
		 * How often the account is changed then.
		 */
		int getEffects() {
			return this.effects;
		}

	}

}
