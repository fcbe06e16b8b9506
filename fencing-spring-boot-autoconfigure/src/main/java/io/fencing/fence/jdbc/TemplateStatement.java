package io.fencing.fence.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.TransactionIdentity;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.SqlProvider;

/**
 * One call of a template: the statements that it sends, as far as it tells. Immutable.
 */
final class TemplateStatement {

	private final @Nullable List<StatementText> texts;

	private final String method;

	private final boolean writesRows;

	private TemplateStatement(@Nullable List<StatementText> texts, String method) {
		this(texts, method, false);
	}

	private TemplateStatement(@Nullable List<StatementText> texts, String method, boolean writesRows) {
		this.texts = texts;
		this.method = method;
		this.writesRows = writesRows;
	}

	/**
	 * Read a call of {@link org.springframework.jdbc.core.JdbcOperations}, where the text
	 * is the first argument or provided by it.
	 * @param method the name of the method
	 * @param arguments the arguments
	 * @param reader reads a text
	 * @return the statement
	 */
	static TemplateStatement of(String method, @Nullable Object[] arguments, Function<String, StatementText> reader) {
		Object first = (arguments.length > 0) ? arguments[0] : null;
		if (first instanceof String sql) {
			return new TemplateStatement(List.of(reader.apply(sql)), method);
		}
		if (first instanceof String[] batch) {
			return new TemplateStatement(Arrays.stream(batch).map(reader).toList(), method);
		}
		String provided = (first instanceof SqlProvider provider) ? provider.getSql() : null;
		return new TemplateStatement((provided != null) ? List.of(reader.apply(provided)) : null, method);
	}

	/**
	 * Read a call of a client that has told its text before.
	 * @param method the name of the method
	 * @param text the text
	 * @return the statement
	 */
	static TemplateStatement of(String method, StatementText text) {
		return new TemplateStatement(List.of(text), method);
	}

	/**
	 * Read a text that is sent on a connection.
	 * @param text the text
	 * @param writesRows whether the rows that it gives may be written to
	 * @return the statement
	 */
	static TemplateStatement sent(StatementText text, boolean writesRows) {
		return new TemplateStatement(List.of(text), "execute", writesRows);
	}

	/**
	 * A call whose statements are not known.
	 * @param method the name of the method
	 * @return the statement
	 */
	static TemplateStatement unknown(String method) {
		return new TemplateStatement(null, method);
	}

	boolean isStream() {
		return this.method.equals("queryForStream") || this.method.equals("stream");
	}

	/**
	 * Whether it plainly changes nothing.
	 * @param settings the settings of the fences
	 * @return whether it is a read; {@code false} if its text is not known
	 */
	boolean isPlainRead(JdbcFenceSettings settings) {
		return this.texts != null && !this.writesRows
				&& this.texts.stream().allMatch((text) -> text.isPlainRead(settings.writingFunctions()));
	}

	/**
	 * Whether the settings let it pass without a hold.
	 * @param settings the settings of the fences
	 * @return whether they do
	 */
	boolean isUnfenced(JdbcFenceSettings settings) {
		List<String> beginnings = settings.unfencedStatements();
		return this.texts != null && !beginnings.isEmpty()
				&& this.texts.stream().allMatch((text) -> beginnings.stream().anyMatch(text::startsWith));
	}

	/**
	 * Whether it ends a transaction that it is sent in.
	 * @param fence the fence
	 * @return whether it does
	 */
	boolean endsTransaction(JdbcFence fence) {
		DatabaseDialect dialect = fence.getDialect();
		return any((text) -> text.controlsTransaction()
				|| (dialect != null && text.anyStatement(dialect::commitsImplicitly)));
	}

	/**
	 * Whether it is refused inside a transaction.
	 * @param fence the fence
	 * @return whether it is
	 */
	boolean refusesTransaction(JdbcFence fence) {
		DatabaseDialect dialect = fence.getDialect();
		return dialect != null && any((text) -> text.anyStatement(dialect::refusesTransaction));
	}

	/**
	 * Whether it may end the transaction from within, as a procedure does where the
	 * server lets it.
	 * @param fence the fence
	 * @return whether it may
	 */
	boolean mayReplaceTransaction(JdbcFence fence) {
		DatabaseDialect dialect = fence.getDialect();
		return dialect != null && dialect.transactionIdentity() != TransactionIdentity.STABLE
				&& any(StatementText::runsOthers);
	}

	/**
	 * Whether a hold may be gone after it.
	 * @param fence the fence
	 * @return whether it may
	 */
	boolean mayUndoHold(JdbcFence fence) {
		// what has the connection may roll it back
		return this.texts == null || any(StatementText::mayUndoHold) || mayReplaceTransaction(fence);
	}

	private boolean any(Predicate<StatementText> condition) {
		if (this.texts != null) {
			for (StatementText text : this.texts) {
				if (condition.test(text)) {
					return true;
				}
			}
		}
		return false;
	}

}
