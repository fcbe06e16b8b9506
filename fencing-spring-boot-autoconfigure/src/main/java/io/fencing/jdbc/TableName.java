package io.fencing.jdbc;

import java.util.regex.Pattern;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

/**
 * The name of a table of ours: plain identifiers only, since it becomes part of SQL.
 *
 * @param schema the schema, {@code null} for the connection's default one
 * @param name the table
 */
public record TableName(@Nullable String schema, String name) {

	private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

	/**
	 * Create a name.
	 * @throws InvalidFencedOperationException if a part is no plain identifier
	 */
	public TableName {
		check("schema", schema);
		check("table", name);
	}

	private static void check(String part, @Nullable String identifier) {
		if (identifier != null && !IDENTIFIER.matcher(identifier).matches()) {
			throw new InvalidFencedOperationException("The name of a " + part + " must be a plain identifier, not '"
					+ identifier + "'; use letters, digits and underscores only");
		}
	}

	/**
	 * As it is written in SQL.
	 */
	@Override
	public String toString() {
		return (this.schema != null) ? this.schema + "." + this.name : this.name;
	}

}
