package io.fencing.sample.idempotency;

import io.fencing.OperationIdentity;

/**
 * The header {@value IdempotencyKey#HEADER} is not what it has to be. Its text does not
 * show the value.
 */
public class InvalidIdempotencyKeyException extends RuntimeException {

	InvalidIdempotencyKeyException() {
		super(IdempotencyKey.HEADER + " has to be one string of 1 to " + OperationIdentity.MAX_LENGTH
				+ " ASCII characters in double quotes, not all of them blanks, without parameters");
	}

}
