package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NamedThreadLocal;
import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * Marks on the current thread that what is sent has been looked at already: claims, holds
 * and statements of templates.
 */
final class OwnStatements {

	private static final ThreadLocal<@Nullable Mark> MARKS = new NamedThreadLocal<>("Own statements");

	private OwnStatements() {
	}

	/**
	 * The mark of the current thread.
	 * @return the innermost one, {@code null} if there is none
	 */
	static @Nullable Mark current() {
		return MARKS.get();
	}

	/**
	 * Begin to send, whereto ever.
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open() {
		return open(null, null);
	}

	/**
	 * Begin to send to one data source. Callbacks that send to others are looked at.
	 * @param dataSource the data source, unwrapped
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open(DataSource dataSource) {
		return open(dataSource, null);
	}

	/**
	 * Begin to take a hold. The connections that its statements pass through learn that
	 * they are those of the transaction, whatever proxies stand in between.
	 * @param transaction the connection of the transaction
	 * @return what to close afterwards, on the same thread
	 */
	static Scope open(ConnectionHolder transaction) {
		return open(null, transaction);
	}

	private static Scope open(@Nullable DataSource dataSource, @Nullable ConnectionHolder transaction) {
		Mark before = MARKS.get();
		Mark mark = new Mark(dataSource, (transaction == null && before != null) ? before.transaction : transaction,
				before);
		MARKS.set(mark);
		return mark;
	}

	/**
	 * A mark, with those around it.
	 *
	 * @param dataSource where it is sent to, {@code null} for anywhere
	 * @param transaction the transaction that a hold is being taken in, {@code null} if
	 * none is
	 * @param before the mark before
	 */
	record Mark(@Nullable DataSource dataSource, @Nullable ConnectionHolder transaction,
			@Nullable Mark before) implements Scope {

		/**
		 * Whether what is sent to a data source has been looked at.
		 * @param dataSource the data source, unwrapped
		 * @return whether it has
		 */
		boolean covers(DataSource dataSource) {
			return this.dataSource == null || this.dataSource == dataSource
					|| (this.before != null && this.before.covers(dataSource));
		}

		@Override
		public void close() {
			MARKS.set(this.before);
		}

	}

	/**
	 * Ends the mark.
	 */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		@Override
		void close();

	}

}
