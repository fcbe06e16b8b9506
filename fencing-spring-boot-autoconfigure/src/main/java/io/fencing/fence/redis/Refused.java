package io.fencing.fence.redis;

import java.util.function.Supplier;

import io.fencing.FencingException;
import io.lettuce.core.api.StatefulConnection;
import org.jspecify.annotations.Nullable;

/**
 * Brings the refusals of one connection of Spring Data Redis to its caller, also out of
 * pipelines and transactions, whose failures do not tell what they are, and sends what
 * waits in a pipeline before its answers are read. Not thread-safe, as the connection.
 */
final class Refused {

	private @Nullable FencedDispatch<?, ?> dedicated;

	private boolean oneByOne;

	/**
	 * The connection that pipelines and transactions run on.
	 * @param connection the connection
	 * @return the same
	 */
	StatefulConnection<byte[], byte[]> dedicated(StatefulConnection<byte[], byte[]> connection) {
		if (connection instanceof FencedConnection<byte[], byte[]> single) {
			this.dedicated = single.getDispatch();
		}
		else if (connection instanceof FencedClusterConnection<byte[], byte[]> cluster) {
			this.dedicated = cluster.getDispatch();
		}
		return connection;
	}

	/**
	 * The database that the connection is in.
	 * @param initial the one that it begins in
	 * @return the database
	 */
	int database(int initial) {
		return (this.dedicated != null) ? this.dedicated.getDatabase() : initial;
	}

	void beginPipeline() {
		if (this.dedicated != null) {
			this.dedicated.beginPipeline(this.oneByOne);
		}
	}

	/**
	 * The caller has the driver's own commands, and may wait for the answer to one of
	 * them before the pipeline ends.
	 */
	void sendOneByOne() {
		this.oneByOne = true;
		if (this.dedicated != null) {
			this.dedicated.sendOneByOne();
		}
	}

	/**
	 * Send what still waits, then get the answers of a pipeline.
	 * @param <T> the type of the answers
	 * @param call gets them
	 * @return the answers
	 * @throws FencingException if any was a refusal
	 */
	<T extends @Nullable Object> T inPipeline(Supplier<T> call) {
		try {
			if (this.dedicated != null) {
				this.dedicated.sendBundle();
			}
			return in(call);
		}
		finally {
			endPipeline();
		}
	}

	void endPipeline() {
		if (this.dedicated != null) {
			this.dedicated.endPipeline();
		}
	}

	/**
	 * Send a command as it is, in a transaction whose guards have been checked.
	 * @param <T> the type of the answer
	 * @param call sends it
	 * @return the answer
	 */
	<T extends @Nullable Object> T checked(Supplier<T> call) {
		FencedDispatch<?, ?> dispatch = this.dedicated;
		if (dispatch == null) {
			return call.get();
		}
		dispatch.setChecked(true);
		try {
			return call.get();
		}
		finally {
			dispatch.setChecked(false);
		}
	}

	/**
	 * Get the answers of a pipeline or transaction.
	 * @param <T> the type of the answers
	 * @param call gets them
	 * @return the answers
	 * @throws FencingException if any was a refusal
	 */
	<T extends @Nullable Object> T in(Supplier<T> call) {
		T result;
		try {
			result = call.get();
		}
		catch (RuntimeException ex) {
			throwRefusal();
			throw ex;
		}
		throwRefusal();
		return result;
	}

	private void throwRefusal() {
		FencingException refusal = (this.dedicated != null) ? this.dedicated.takeRefusal() : null;
		if (refusal != null) {
			throw refusal;
		}
	}

	/**
	 * Throw the refusal that a failure stands for.
	 * @param thrown the failure
	 * @throws FencingException the refusal, if it is one
	 */
	static void throwIfRefused(@Nullable Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (cause instanceof FencingException refusal) {
				throw refusal;
			}
		}
	}

}
