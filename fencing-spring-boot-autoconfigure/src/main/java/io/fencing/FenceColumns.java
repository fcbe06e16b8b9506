package io.fencing;

import java.util.Map;
import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * A pair of columns, token and owner, in a table of the application's own, that fences
 * each of its rows by itself: for a database that no transaction manager of the
 * application drives, or that others write to as well. Makes the SQL text and the
 * parameters of an update, and judges its outcome: <pre>
 * static final FenceColumns FENCE = new FenceColumns("fence_token", "fence_owner");
 *
 * int rows = jdbcClient
 *     .sql("UPDATE account SET balance = :balance, " + FENCE.assignment()
 *             + " WHERE id = :id AND " + FENCE.predicate())
 *     .param("balance", balance).param("id", id)
 *     .params(FENCE.parameters("account:" + id))
 *     .update();
 * FENCE.check("account:" + id, rows);
 * </pre>
 *
 * <p>
 * What it does not cover: reads. A worker that reads the row before it has written its
 * token there may work on a value that an older worker then changes. So let the first
 * statement of the transaction be such an update, and read after it. Other rows, and rows
 * that are deleted and inserted again, are not fenced. The columns allow {@code NULL}
 * ({@code BIGINT} and {@code VARCHAR(64)}), for rows that nobody has claimed yet, and
 * only such updates write them.
 *
 * <p>
 * Immutable and thread-safe.
 *
 * @param token the name of the column for the token, a plain identifier
 * @param owner the name of the column for the owner, a plain identifier
 */
public record FenceColumns(String token, String owner) {

	private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

	/**
	 * Name the columns.
	 * @throws IllegalArgumentException if a name is no plain identifier
	 */
	public FenceColumns {
		check(token);
		check(owner);
	}

	private static void check(String column) {
		Assert.isTrue(IDENTIFIER.matcher(column).matches(),
				() -> "The name of a column must be a plain identifier, not '" + column + "'");
	}

	/**
	 * What the update sets.
	 * @return assignments with the parameters {@code :fenceToken} and {@code :fenceOwner}
	 */
	public String assignment() {
		return this.token + " = :fenceToken, " + this.owner + " = :fenceOwner";
	}

	/**
	 * What the update requires of the row: that it has accepted no newer token, and no
	 * equal one of another owner.
	 * @return a condition in parentheses with the same parameters
	 */
	public String predicate() {
		return "(" + this.token + " IS NULL OR " + this.token + " < :fenceToken OR (" + this.token
				+ " = :fenceToken AND " + this.owner + " = :fenceOwner))";
	}

	/**
	 * The values of the parameters.
	 * @param resource the raw name of a resource that the current operation holds
	 * @return the token and its owner
	 * @throws IllegalStateException outside of any operation, or if it does not hold the
	 * resource
	 * @throws LeaseLostException if a lease of the operation is known to be lost
	 */
	public Map<String, Object> parameters(String resource) {
		FencingContext context = FencingContext.required();
		context.checkHeld();
		FencingToken token = context.getToken(resource);
		return Map.of("fenceToken", token.value(), "fenceOwner", token.owner());
	}

	/**
	 * Judge the outcome of an update whose row exists. A refusal is recorded: the
	 * operation ends with it, whatever becomes of the exception.
	 * @param resource the raw name of the resource
	 * @param updatedRows the number of rows that the update has found
	 * @throws StaleTokenException if it has found none
	 */
	public void check(String resource, int updatedRows) {
		if (updatedRows == 0) {
			throw FencingContext.required().refusedBy("columns", resource, null);
		}
	}

}
