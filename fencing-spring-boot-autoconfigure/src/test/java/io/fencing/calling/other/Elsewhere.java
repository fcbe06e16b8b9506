package io.fencing.calling.other;

import io.fencing.FencedOperation;
import io.fencing.calling.Seen;

/**
 * A class whose subclasses are in another package.
 */
public abstract class Elsewhere {

	@FencedOperation("account:#{#id}")
	String withdraw(String id) {
		return Seen.record();
	}

	/**
	 * Call an object of another package as this one may.
	 */
	public static String withdraw(Elsewhere accounts) {
		return accounts.withdraw("42");
	}

	/**
	 * Overrides what can be overridden elsewhere.
	 */
	public abstract static class Protected {

		@FencedOperation("account:#{#id}")
		protected String withdraw(String id) {
			return Seen.record();
		}

		/**
		 * Call an object of another package as this one may.
		 */
		public static String withdraw(Protected accounts) {
			return accounts.withdraw("42");
		}

	}

}
