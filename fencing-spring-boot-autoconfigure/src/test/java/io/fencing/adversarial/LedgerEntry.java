package io.fencing.adversarial;

import java.util.List;

/**
 * One entry of an account's ledger.
 *
 * @param id which no other entry has
 * @param predecessor the id of the entry that it builds on
 * @param balance one more than that of its predecessor
 * @param token the token of whoever wrote it
 * @param owner the owner of that token
 */
record LedgerEntry(String id, String predecessor, long balance, long token, String owner) {

	/**
	 * What an empty ledger ends with.
	 */
	static final LedgerEntry NONE = new LedgerEntry("none", "", 0, 0, "");

	private static final String SEPARATOR = " ";

	static LedgerEntry parse(String text) {
		String[] parts = text.split(SEPARATOR);
		return new LedgerEntry(parts[0], parts[1], Long.parseLong(parts[2]), Long.parseLong(parts[3]), parts[4]);
	}

	String toText() {
		return String.join(SEPARATOR, this.id, this.predecessor, Long.toString(this.balance), Long.toString(this.token),
				this.owner);
	}

	/**
	 * What is wrong with this entry as the next one of another.
	 * @param before the other
	 * @return one sentence for each violation
	 */
	List<String> getViolationsAfter(LedgerEntry before) {
		if (equals(before)) {
			// the driver did not know whether it had been written, and sent it again
			return List.of();
		}
		if (!this.predecessor.equals(before.id) || this.balance != before.balance + 1) {
			return List.of(this + " does not build on " + before);
		}
		return (this.token <= before.token) ? List.of(this + " was accepted after " + before) : List.of();
	}

}
