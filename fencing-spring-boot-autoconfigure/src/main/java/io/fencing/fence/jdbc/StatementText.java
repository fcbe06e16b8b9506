package io.fencing.fence.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What can be told from the text of a statement. Careful rather than clever: what is not
 * plainly a read counts as a write, even if a word such as {@code UPDATE} only stands in
 * a literal or a comment. Immutable.
 */
final class StatementText {

	private static final Set<String> READS = Set.of("SELECT", "VALUES", "SHOW", "WITH");

	private static final Set<String> WRITES = Set.of("INSERT", "UPDATE", "DELETE", "MERGE", "CALL", "INTO");

	private static final Set<String> TRANSACTION_CONTROL = Set.of("COMMIT", "END", "ABORT", "BEGIN", "START",
			"ROLLBACK");

	// procedures and texts, which may hold anything
	private static final Set<String> RUNS_OTHERS = Set.of("CALL", "EXECUTE");

	// escapes, comments, quoted identifiers and dollar quotes may contain an apostrophe
	private static final List<String> NOT_PLAIN = List.of("\\", "--", "/*", "#", "\"", "`", "$");

	// their bodies contain other statements
	private static final Set<String> BODIES = Set.of("CREATE", "ALTER", "DO");

	private final List<List<String>> statements;

	private final boolean controlsTransaction;

	private final boolean mayUndoHold;

	private final boolean runsOthers;

	/**
	 * Read a text.
	 * @param sql the text, of one or several statements
	 */
	StatementText(String sql) {
		this.statements = split(sql);
		this.mayUndoHold = this.statements.stream().anyMatch(StatementText::controlsTransaction);
		this.runsOthers = this.statements.stream().anyMatch((words) -> RUNS_OTHERS.contains(words.get(0)));
		this.controlsTransaction = !this.statements.isEmpty() && !BODIES.contains(first().get(0))
				&& this.statements.stream()
					.anyMatch((words) -> controlsTransaction(words) && !rollsBackToSavepoint(words));
	}

	private static List<List<String>> split(String sql) {
		List<List<String>> statements = split(sql, false);
		if (sql.indexOf("/*") != sql.lastIndexOf("/*")) {
			List<List<String>> nested = split(sql, true);
			if (!nested.equals(statements)) {
				// may mean one or the other
				statements.addAll(nested);
			}
		}
		return statements;
	}

	// comments contain comments on PostgreSQL and H2, and do not on MySQL and MariaDB
	private static List<List<String>> split(String sql, boolean nested) {
		List<List<String>> statements = new ArrayList<>();
		List<String> words = new ArrayList<>();
		boolean literals = hasPlainLiterals(sql);
		boolean inLiteral = false;
		int at = 0;
		while (at < sql.length()) {
			char c = sql.charAt(at);
			int end = at + 1;
			if (words.isEmpty() && isComment(sql, at)) {
				end = (sql.charAt(at) == '/' && sql.charAt(at + 1) == '*') ? endOfBlock(sql, at, nested)
						: endOfLine(sql, at);
			}
			else if (Character.isJavaIdentifierStart(c)) {
				while (end < sql.length() && Character.isJavaIdentifierPart(sql.charAt(end))) {
					end++;
				}
				words.add(sql.substring(at, end).toUpperCase(Locale.ROOT));
			}
			else if (literals && c == '\'') {
				inLiteral = !inLiteral;
			}
			else if (c == ';' && !inLiteral && !words.isEmpty()) {
				statements.add(words);
				words = new ArrayList<>();
			}
			at = end;
		}
		if (!words.isEmpty()) {
			statements.add(words);
		}
		return statements;
	}

	// whether an apostrophe can be nothing but the beginning or the end of a literal
	private static boolean hasPlainLiterals(String sql) {
		return NOT_PLAIN.stream().noneMatch(sql::contains) && sql.chars().filter((c) -> c == '\'').count() % 2 == 0;
	}

	private static boolean isComment(String sql, int at) {
		return sql.startsWith("--", at) || sql.startsWith("#", at) || sql.startsWith("//", at)
				|| (sql.startsWith("/*", at) && !sql.startsWith("/*!", at) && !sql.startsWith("/*M!", at));
	}

	private static int endOfLine(String sql, int at) {
		int end = sql.indexOf('\n', at);
		return (end < 0) ? sql.length() : end + 1;
	}

	private static int endOfBlock(String sql, int start, boolean nested) {
		int depth = 1;
		int at = start + 2;
		while (depth > 0 && at < sql.length()) {
			if (sql.startsWith("*/", at)) {
				depth--;
				at += 2;
			}
			else if (nested && sql.startsWith("/*", at)) {
				depth++;
				at += 2;
			}
			else {
				at++;
			}
		}
		return at;
	}

	/**
	 * Whether it is one statement that plainly changes nothing.
	 * @param writingFunctions functions that write, in upper case
	 * @return whether it is a read
	 */
	boolean isPlainRead(Set<String> writingFunctions) {
		return this.statements.size() == 1 && READS.contains(first().get(0))
				&& first().stream().noneMatch((word) -> WRITES.contains(word) || writingFunctions.contains(word));
	}

	/**
	 * Whether it ends or begins a transaction by itself.
	 * @return whether it does
	 */
	boolean controlsTransaction() {
		return this.controlsTransaction;
	}

	private static boolean controlsTransaction(List<String> words) {
		return TRANSACTION_CONTROL.contains(words.get(0)) || startsWith(words, "PREPARE", "TRANSACTION")
				|| (words.get(0).equals("SET") && words.contains("AUTOCOMMIT"));
	}

	private static boolean startsWith(List<String> words, String first, String second) {
		return words.size() > 1 && words.get(0).equals(first) && words.get(1).equals(second);
	}

	/**
	 * Whether it runs what cannot be told from it.
	 * @return whether it does
	 */
	boolean runsOthers() {
		return this.runsOthers;
	}

	/**
	 * Whether a hold may be gone after it: it rolls back to a savepoint, or ends the
	 * transaction behind what looks like the body of a definition.
	 * @return whether it may
	 */
	boolean mayUndoHold() {
		return this.mayUndoHold;
	}

	private static boolean rollsBackToSavepoint(List<String> words) {
		return words.get(0).equals("ROLLBACK") && words.contains("TO");
	}

	/**
	 * Whether it begins with the given words.
	 * @param beginning the words, separated by spaces
	 * @return whether it does
	 */
	boolean startsWith(String beginning) {
		List<String> words = List.of(beginning.trim().toUpperCase(Locale.ROOT).split("\\s+"));
		return this.statements.size() == 1 && first().size() >= words.size()
				&& first().subList(0, words.size()).equals(words);
	}

	/**
	 * Whether a condition is true for one of its statements.
	 * @param condition asked with the words of a statement, in upper case, at least one
	 * @return whether it is
	 */
	boolean anyStatement(Predicate<List<String>> condition) {
		for (List<String> words : this.statements) {
			if (condition.test(words)) {
				return true;
			}
		}
		return false;
	}

	private List<String> first() {
		return this.statements.get(0);
	}

}
