package io.fencing.lease.redisson;

/**
 * A reply bears the ticket of another call: replies and questions of this connection no
 * longer belong together.
 */
final class ForeignReplyException extends RuntimeException {

	ForeignReplyException() {
		super("A reply belongs to another call");
	}

}
