package io.fencing;

/**
 * Finds out what has become of one kind of operation with effects outside the database,
 * by asking the other system with the operation's identity for instance. A bean of this
 * type is asked in the background about each operation of its name that is undecided, one
 * at a time, again and again at growing intervals until it knows. Several nodes never ask
 * about the same one at the same time, unless a call takes longer than the interval.
 *
 * <p>
 * It must be thread-safe, should end within seconds by a time-out of its own, and may
 * throw: that counts as not known yet, and is logged with its message. It is interrupted
 * when the application stops.
 */
public interface OperationReconciler {

	/**
	 * The operation that it knows about.
	 * @return the name of the operation
	 */
	String getOperation();

	/**
	 * Find out what has become of one operation. Its attempt has ended, and no other one
	 * begins while it is undecided; what it has sent may still be under way.
	 * @param operation the operation
	 * @return what has become of it; {@link OperationDecision#notDone()} only if it can
	 * happen no more
	 * @throws Exception if it cannot be found out now
	 */
	OperationDecision reconcile(UndecidedOperation operation) throws Exception;

}
