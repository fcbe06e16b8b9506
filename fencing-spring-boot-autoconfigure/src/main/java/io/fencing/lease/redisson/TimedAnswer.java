package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

/**
 * Waits for one answer of Redis, the creation of the client included, and turns whatever
 * is not an answer into {@link CoordinatorUnavailableException}. For one call.
 */
final class TimedAnswer {

	private final @Nullable String operation;

	private final @Nullable FencedResource resource;

	private final Duration timeout;

	private final boolean interruptible;

	private final long deadline;

	/**
	 * Start the time.
	 * @param operation the name of the operation, for the message
	 * @param resource the resource, for the message
	 * @param timeout the longest time to wait
	 * @param interruptible whether an interrupt ends the wait; else the flag is kept
	 */
	TimedAnswer(@Nullable String operation, @Nullable FencedResource resource, Duration timeout,
			boolean interruptible) {
		this.operation = operation;
		this.resource = resource;
		this.timeout = timeout;
		this.interruptible = interruptible;
		this.deadline = System.nanoTime() + timeout.toNanos();
	}

	/**
	 * Make a call and wait for its answer. A call that has not been answered in time is
	 * cancelled.
	 * @param <T> the type of the answer
	 * @param clients gives the client
	 * @param call the call
	 * @return the answer
	 */
	<T extends @Nullable Object> T get(RedissonClientHolder clients,
			Function<RedissonClient, CompletableFuture<T>> call) {
		if (this.interruptible && Thread.currentThread().isInterrupted()) {
			throw unavailable("the thread was interrupted before it could ask", null);
		}
		RedissonClient redisson = await(clients.get(), () -> notConnected(clients.getLastFailure()));
		CompletableFuture<T> answer;
		try {
			answer = call.apply(redisson);
		}
		catch (RuntimeException ex) {
			throw failed(ex);
		}
		try {
			return await(answer, () -> unavailable("Redis gave no answer in time", null));
		}
		catch (CoordinatorUnavailableException ex) {
			if (ex.getCause() instanceof ForeignReplyException) {
				clients.replace(redisson);
			}
			throw ex;
		}
		finally {
			answer.cancel(false);
		}
	}

	/**
	 * Demand that an answer was understood.
	 * @param <T> the type of the answer
	 * @param answer what was understood, {@code null} if nothing was
	 * @return the answer
	 */
	<T> T understood(@Nullable T answer) {
		if (answer == null) {
			throw unavailable("the answer of Redis was not understood", null);
		}
		return answer;
	}

	private <T extends @Nullable Object> T await(CompletableFuture<T> future,
			Supplier<CoordinatorUnavailableException> late) {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return future.get(this.deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
					if (this.interruptible) {
						throw unavailable("the thread was interrupted while it waited for an answer", ex);
					}
				}
			}
		}
		catch (TimeoutException ex) {
			throw late.get();
		}
		catch (ExecutionException ex) {
			throw failed((ex.getCause() != null) ? ex.getCause() : ex);
		}
		catch (CancellationException ex) {
			throw failed(ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private CoordinatorUnavailableException notConnected(@Nullable Throwable lastFailure) {
		return unavailable(
				(lastFailure != null) ? FailureReason.of(lastFailure) : "there was no connection to Redis in time",
				lastFailure);
	}

	private CoordinatorUnavailableException failed(Throwable cause) {
		return unavailable(FailureReason.of(cause), MaskedFailure.of(cause));
	}

	private CoordinatorUnavailableException unavailable(String problem, @Nullable Throwable cause) {
		return new CoordinatorUnavailableException(this.operation, this.resource, problem, cause);
	}

}
