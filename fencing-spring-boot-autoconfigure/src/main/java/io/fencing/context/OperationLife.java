package io.fencing.context;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * How long an operation lasts: until the last of those who need its leases has left.
 * Thread-safe.
 */
final class OperationLife {

	private final AtomicInteger users = new AtomicInteger(1);

	private volatile Supplier<@Nullable RuntimeException> release = () -> null;

	/**
	 * Set what gives the leases back.
	 * @param release answers with what went wrong; called once, by the last to leave
	 */
	void onEnd(Supplier<@Nullable RuntimeException> release) {
		this.release = release;
	}

	/**
	 * Let it last until one more has {@linkplain #leave() left}.
	 * @return whether it has not ended yet
	 */
	boolean keep() {
		return this.users.getAndUpdate((count) -> (count > 0) ? count + 1 : count) > 0;
	}

	/**
	 * One of its users needs it no longer.
	 * @return what went wrong while the leases were given back, {@code null} if nothing
	 * did
	 */
	@Nullable RuntimeException leave() {
		return (this.users.decrementAndGet() == 0) ? this.release.get() : null;
	}

	boolean isEnded() {
		return this.users.get() <= 0;
	}

}
