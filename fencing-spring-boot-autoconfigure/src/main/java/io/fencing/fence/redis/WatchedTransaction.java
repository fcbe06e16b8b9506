package io.fencing.fence.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.fencing.FencingException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs commands in a transaction of one connection that has no effect if a guard changes:
 * WATCH the guards, check them, MULTI, the commands, EXEC. The check comes after WATCH,
 * so nobody can pass between it and EXEC; a claim comes before, in a step of its own,
 * since WATCH does not tell who has changed a guard. Not thread-safe, as the connection.
 */
final class WatchedTransaction {

	private static final int MOST_ATTEMPTS = 10;

	private final RedisConnection connection;

	/**
	 * Create a transaction.
	 * @param connection a connection whose WATCH, MULTI and EXEC reach one and the same
	 * connection of the driver
	 */
	WatchedTransaction(RedisConnection connection) {
		this.connection = connection;
	}

	/**
	 * Run one command.
	 * @param admission makes what it must show
	 * @param command queues it
	 * @param <E> the type of the failure of queueing it
	 * @return its result
	 * @throws FencingException if it was refused; nothing has been done
	 * @throws E if it cannot be queued
	 */
	<E extends Throwable> @Nullable Object run(Supplier<Admission> admission, Queued<E> command) throws E {
		for (int i = 0; i < MOST_ATTEMPTS; i++) {
			begin(admission.get());
			try {
				command.queue();
			}
			catch (Throwable ex) {
				cleanUp(this.connection::discard, ex);
				throw ex;
			}
			List<?> results = exec();
			if (results != null) {
				return results.isEmpty() ? null : results.get(results.size() - 1);
			}
		}
		throw changed();
	}

	/**
	 * Begin a transaction.
	 * @param admission what all its commands must show
	 * @throws FencingException if that was refused
	 */
	void begin(Admission admission) {
		if (!admission.isGranted()) {
			check(admission);
		}
		this.connection.watch(admission.keys().toArray(byte[][]::new));
		try {
			check(admission);
			this.connection.multi();
		}
		catch (RuntimeException ex) {
			cleanUp(this.connection::unwatch, ex);
			throw ex;
		}
	}

	/**
	 * Run a transaction that has begun.
	 * @param admission what its commands must show
	 * @param watched whether the caller watches keys as well
	 * @return the results, {@code null} if a key of the caller's has changed
	 * @throws FencingException if a guard has changed
	 */
	@Nullable List<?> end(Admission admission, boolean watched) {
		List<?> results = exec();
		if (results == null) {
			check(admission);
			if (!watched) {
				throw changed();
			}
		}
		return results;
	}

	/**
	 * Ask the guards.
	 * @param admission what they must show, or may be raised to
	 * @throws FencingException if they show something else
	 */
	void check(Admission admission) {
		List<byte[]> arguments = new ArrayList<>(admission.keys());
		admission.addTo(arguments::add);
		try {
			check(admission.count(), arguments.toArray(byte[][]::new));
		}
		catch (DataAccessException ex) {
			FencingException refusal = admission.refusal(message(ex));
			if (refusal != null) {
				throw refusal;
			}
			throw ex;
		}
		admission.grant();
	}

	private void check(int keys, byte[][] arguments) {
		try {
			this.connection.scriptingCommands()
				.evalSha(FenceScript.CHECK_ALONE.sha(), ReturnType.INTEGER, keys, arguments);
		}
		catch (DataAccessException ex) {
			if (!message(ex).startsWith("NOSCRIPT")) {
				throw ex;
			}
			this.connection.scriptingCommands()
				.eval(FenceScript.CHECK_ALONE.text(), ReturnType.INTEGER, keys, arguments);
		}
	}

	private @Nullable List<?> exec() {
		try {
			return this.connection.exec();
		}
		catch (InvalidDataAccessApiUsageException ex) {
			// the server refused a command where it was queued
			Throwable[] refusals = (ex.getCause() != null) ? ex.getCause().getSuppressed() : new Throwable[0];
			throw (refusals.length > 0)
					? new InvalidDataAccessApiUsageException(String.valueOf(refusals[0].getMessage()), refusals[0])
					: ex;
		}
	}

	private static ConcurrencyFailureException changed() {
		return new ConcurrencyFailureException("Somebody has written the guards of this operation in place of the "
				+ "fence; nothing was applied, call the whole operation again");
	}

	private static String message(Throwable thrown) {
		Throwable root = thrown;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return String.valueOf(root.getMessage());
	}

	private static void cleanUp(Runnable step, Throwable failure) {
		try {
			step.run();
		}
		catch (RuntimeException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Queues a command in the transaction.
	 *
	 * @param <E> the type of its failure
	 */
	@FunctionalInterface
	interface Queued<E extends Throwable> {

		@Nullable Object queue() throws E;

	}

}
