package io.fencing;

import org.jspecify.annotations.Nullable;

/**
 * A write was refused since no fence could stand in front of it: outside of any operation
 * under {@code fencing.unfenced-writes=reject}, or inside one by a way that cannot be
 * fenced.
 */
public final class UnfencedWriteException extends FencingException {

	/**
	 * Create an exception.
	 * @param operation the name of the operation, {@code null} outside of one
	 * @param problem what was tried and why it cannot be fenced, as a clause
	 * @param remedy what to do instead, as a clause
	 */
	public UnfencedWriteException(@Nullable String operation, String problem, String remedy) {
		super(describe(operation, null) + problem + "; " + remedy, operation, null, null);
	}

}
