package io.fencing.fence.jdbc;

import org.springframework.util.ConcurrentLruCache;

/**
 * Reads the texts of statements, each that is not too long once for many calls.
 * Thread-safe.
 */
final class StatementTexts {

	private static final int LONGEST_CACHED_TEXT = 4096;

	private final ConcurrentLruCache<String, StatementText> texts = new ConcurrentLruCache<>(512, StatementText::new);

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText get(String sql) {
		return (sql.length() > LONGEST_CACHED_TEXT) ? new StatementText(sql) : this.texts.get(sql);
	}

}
