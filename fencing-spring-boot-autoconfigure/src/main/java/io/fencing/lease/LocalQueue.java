package io.fencing.lease;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.fencing.FencedResource;
import io.fencing.lease.LeaseCoordinator.ReleaseSubscription;
import org.jspecify.annotations.Nullable;

/**
 * Lines up the threads of this JVM that wait for the same resource, so that only the
 * first of each line asks the coordinator, in order of arrival. A line exists while
 * somebody stands in it, and so does its subscription. Thread-safe.
 */
final class LocalQueue {

	private final LeaseCoordinator coordinator;

	private final MonotonicClock clock;

	private final ConcurrentMap<FencedResource, Line> lines = new ConcurrentHashMap<>();

	/**
	 * Create a queue.
	 * @param coordinator where releases are listened for
	 * @param clock the clock
	 */
	LocalQueue(LeaseCoordinator coordinator, MonotonicClock clock) {
		this.coordinator = coordinator;
		this.clock = clock;
	}

	/**
	 * Stand in line, without waiting.
	 * @param resource the resource
	 * @return the line, to be closed by the same thread
	 */
	Line join(FencedResource resource) {
		return this.lines.compute(resource, (key, present) -> {
			Line line = (present != null) ? present : new Line(resource);
			line.members++;
			return line;
		});
	}

	/**
	 * The line for one resource. Only the thread whose turn it is may listen and note.
	 */
	final class Line implements AutoCloseable {

		private final FencedResource resource;

		private final ReentrantLock turn = new ReentrantLock(true);

		// guarded by the map
		private int members;

		private volatile @Nullable ReleaseSubscription subscription;

		private volatile @Nullable Long takenUntil;

		private Line(FencedResource resource) {
			this.resource = resource;
		}

		/**
		 * Wait until everybody before is gone.
		 * @param timeout the longest time to wait
		 * @return whether it is this thread's turn
		 * @throws InterruptedException if the thread is interrupted
		 */
		boolean awaitTurn(Duration timeout) throws InterruptedException {
			return this.turn.tryLock(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}

		/**
		 * Wait for a release.
		 * @param request the request that waits
		 * @param timeout the longest time to wait
		 * @throws InterruptedException if the thread is interrupted
		 */
		void awaitRelease(LeaseRequest request, Duration timeout) throws InterruptedException {
			ReleaseSubscription present = this.subscription;
			if (present == null) {
				present = LocalQueue.this.coordinator.subscribe(request);
				this.subscription = present;
			}
			present.await(timeout);
		}

		/**
		 * Note that somebody has the lease.
		 * @param remaining how long it still lasts
		 */
		void noteTaken(Duration remaining) {
			this.takenUntil = LocalQueue.this.clock.nanoTime() + remaining.toNanos();
		}

		/**
		 * Note that the coordinator gave no answer.
		 */
		void noteUnknown() {
			this.takenUntil = null;
		}

		/**
		 * How long the lease that was last seen still lasts.
		 * @return the time, {@code null} if the last thing seen was no answer
		 */
		@Nullable Duration getTakenFor() {
			Long until = this.takenUntil;
			return (until != null) ? Duration.ofNanos(Math.max(0, until - LocalQueue.this.clock.nanoTime())) : null;
		}

		/**
		 * Leave the line.
		 */
		@Override
		public void close() {
			if (this.turn.isHeldByCurrentThread()) {
				this.turn.unlock();
			}
			Line rest = LocalQueue.this.lines.computeIfPresent(this.resource,
					(key, line) -> (--line.members > 0) ? line : null);
			ReleaseSubscription present = this.subscription;
			if (rest == null && present != null) {
				present.close();
			}
		}

	}

}
