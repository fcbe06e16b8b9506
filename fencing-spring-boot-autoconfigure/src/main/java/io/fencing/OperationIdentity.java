package io.fencing;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * What makes a call repeatable: the same identity runs once, however often it is called.
 * Immutable.
 *
 * @param id the caller's stable id of one logical request, at most {@value #MAX_LENGTH}
 * characters; kept in the journal as it is
 * @param input what counts as its input; the same identity with another input is refused
 * @param resultType what the recorded result is read as
 * @param external whether the body has effects outside the database that holds the
 * journal, so that an attempt whose outcome is unknown is never repeated by guess
 * @param notRepeatableFor exceptions that are the final answer of the operation
 * @param transaction the transaction that the body runs in
 */
public record OperationIdentity(String id, @Nullable Object input, Type resultType, boolean external,
		Set<Class<? extends Throwable>> notRepeatableFor, OperationTransaction transaction) {

	/**
	 * The greatest length of an id.
	 */
	public static final int MAX_LENGTH = 255;

	/**
	 * Create an identity.
	 * @throws InvalidFencedOperationException if the id is blank, too long or no text
	 */
	public OperationIdentity {
		if (!StringUtils.hasText(id) || id.length() > MAX_LENGTH) {
			throw new InvalidFencedOperationException("An operation identity has " + id.length()
					+ " characters or is blank; use a text of 1 to " + MAX_LENGTH + " characters");
		}
		// two that are written as the same bytes would be taken for one
		if (id.indexOf('\0') >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(id)) {
			throw new InvalidFencedOperationException(
					"An operation identity has a NUL or half of a surrogate pair, which cannot be kept; use a text "
							+ "that UTF-8 can express");
		}
		notRepeatableFor = Set.copyOf(notRepeatableFor);
	}

	/**
	 * Whether an exception is the final answer of the operation.
	 * @param thrown the exception
	 * @return whether it is
	 */
	public boolean isFinal(Throwable thrown) {
		return this.notRepeatableFor.stream().anyMatch((type) -> type.isInstance(thrown));
	}

}
