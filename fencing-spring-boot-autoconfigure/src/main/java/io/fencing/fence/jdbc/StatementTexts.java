package io.fencing.fence.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads the texts of statements, each that is not too long once for many calls.
 * Thread-safe.
 */
final class StatementTexts {

	private static final int LONGEST_CACHED_TEXT = 4096;

	private static final int MOST_TEXTS = 512;

	// read with each statement: keeping track of what was used last would cost more than
	// reading all anew now and then
	private final Map<String, StatementText> texts = new ConcurrentHashMap<>();

	/**
	 * What can be told from a text.
	 * @param sql the text
	 * @return the text, read
	 */
	StatementText get(String sql) {
		StatementText known = this.texts.get(sql);
		return (known != null) ? known : read(sql);
	}

	private StatementText read(String sql) {
		StatementText text = new StatementText(sql);
		if (sql.length() <= LONGEST_CACHED_TEXT) {
			if (this.texts.size() >= MOST_TEXTS) {
				this.texts.clear();
			}
			this.texts.put(sql, text);
		}
		return text;
	}

}
