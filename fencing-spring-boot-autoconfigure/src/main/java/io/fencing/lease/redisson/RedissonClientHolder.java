package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Redisson client, created on first use or in the background before it: creation
 * costs a tenth of a second and more, and fails while Redis is down, so neither belongs
 * in the start of an application. After a failure the next use tries again. At most one
 * creation runs at any time, on a thread of its own, so that each caller waits no longer
 * than it wants to. Thread-safe.
 */
public final class RedissonClientHolder implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedissonClientHolder.class);

	private static final String THREAD_NAME = "fencing-redisson-start";

	private final Supplier<RedissonClient> factory;

	private final boolean owned;

	private final Consumer<RedissonClient> check;

	private final AtomicReference<@Nullable CompletableFuture<RedissonClient>> client = new AtomicReference<>();

	private volatile @Nullable Throwable lastFailure;

	private volatile boolean closed;

	private RedissonClientHolder(Supplier<RedissonClient> factory, boolean owned, Consumer<RedissonClient> check) {
		this.factory = factory;
		this.owned = owned;
		this.check = check;
	}

	/**
	 * Use a client that belongs to somebody else, who shuts it down.
	 * @param lookup gives the client; may fail and is then asked again
	 * @return the holder
	 */
	public static RedissonClientHolder shared(Supplier<RedissonClient> lookup) {
		return new RedissonClientHolder(lookup, false, (client) -> {
		});
	}

	/**
	 * Create a client that this holder shuts down when it is closed.
	 * @param factory creates the client; may fail and is then asked again
	 * @return the holder
	 */
	public static RedissonClientHolder owning(Supplier<RedissonClient> factory) {
		return new RedissonClientHolder(factory, true, (client) -> {
		});
	}

	/**
	 * Use each client only once it has been checked.
	 * @param check throws if the client must not be used; it is then asked for again at
	 * the next use
	 * @return another holder, to be used instead of this one
	 */
	public RedissonClientHolder checkedBy(Consumer<RedissonClient> check) {
		return new RedissonClientHolder(this.factory, this.owned, check);
	}

	/**
	 * Get the client in the background, so that the first call need not wait for it. If
	 * that fails, the first call tries again.
	 */
	public void warmUp() {
		get().whenComplete((ignored, failure) -> {
			if (failure != null && !this.closed) {
				tell(failure);
			}
		});
	}

	/**
	 * Get the client now, unless that fails or takes too long: the first call then tries
	 * again.
	 * @param patience the longest time to wait for it
	 * @throws InvalidFencedOperationException if it is there, but must not be used
	 */
	public void warmUp(Duration patience) {
		try {
			get().get(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof InvalidFencedOperationException refusal) {
				throw refusal;
			}
			// a Redis that is down does not fail the start
			tell(ex);
		}
		catch (TimeoutException ex) {
			tell(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void tell(Throwable failure) {
		logger.warn("Leases cannot be granted yet, since {}; this is tried again with each call",
				FailureReason.of(failure));
		logger.debug("Why leases cannot be granted yet", failure);
	}

	/**
	 * The client, its creation started if need be.
	 * @return the client to come, or the failure to create it
	 */
	CompletableFuture<RedissonClient> get() {
		while (true) {
			CompletableFuture<RedissonClient> present = this.client.get();
			if (present != null) {
				return present;
			}
			if (this.closed) {
				return CompletableFuture.failedFuture(new IllegalStateException("The coordinator is closed"));
			}
			CompletableFuture<RedissonClient> created = new CompletableFuture<>();
			if (this.client.compareAndSet(null, created)) {
				start(created);
				return created;
			}
		}
	}

	/**
	 * Have a client created anew if it is owned, since this one does not work any more;
	 * one that belongs to somebody else stays.
	 * @param useless the client that does not work
	 */
	void replace(RedissonClient useless) {
		CompletableFuture<RedissonClient> present = this.client.get();
		if (this.owned && present != null && present.isDone() && !present.isCompletedExceptionally()
				&& present.join() == useless && this.client.compareAndSet(present, null)) {
			Thread thread = new Thread(useless::shutdown, "fencing-redisson-stop");
			thread.setDaemon(true);
			thread.start();
		}
	}

	/**
	 * Why the client is not there yet.
	 * @return why its last creation failed, {@code null} if it did not
	 */
	@Nullable Throwable getLastFailure() {
		return this.lastFailure;
	}

	private void start(CompletableFuture<RedissonClient> created) {
		Thread thread = new Thread(() -> create(created), THREAD_NAME);
		thread.setDaemon(true);
		try {
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			fail(created, ex);
		}
	}

	private void create(CompletableFuture<RedissonClient> created) {
		RedissonClient redisson = null;
		try {
			redisson = this.factory.get();
			this.check.accept(redisson);
			this.lastFailure = null;
			created.complete(redisson);
		}
		catch (Throwable ex) {
			// an Error as well: whoever waits for the client must hear of it
			fail(created, ex);
		}
		if (redisson != null && this.owned && (this.closed || created.isCompletedExceptionally())) {
			redisson.shutdown();
		}
	}

	private void fail(CompletableFuture<RedissonClient> created, Throwable failure) {
		this.lastFailure = failure;
		this.client.compareAndSet(created, null);
		created.completeExceptionally(failure);
	}

	/**
	 * Shut the client down if it is owned, also one that is still being created.
	 */
	@Override
	public void close() {
		this.closed = true;
		CompletionStage<RedissonClient> present = this.client.getAndSet(null);
		if (present != null && this.owned) {
			present.thenAccept(RedissonClient::shutdown);
		}
	}

}
