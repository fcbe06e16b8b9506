package io.fencing.lease;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencingException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.lease.LeaseAnswer.Busy;
import io.fencing.lease.LeaseAnswer.Granted;
import io.fencing.lease.LeaseManager.LeaseTerms;
import org.jspecify.annotations.Nullable;

/**
 * Asks for leases, and waits while somebody else has them. Thread-safe.
 *
 * <p>
 * An attempt without an answer may have been granted all the same. It is repeated as the
 * same owner while the wait lasts, which gives the same token; where no grant comes of
 * it, it is abandoned in the background, so that a lease which nobody knows of does not
 * keep others out until it expires. So is a place in a line of the coordinator.
 */
final class LeaseAcquirer {

	// the message of a release may get lost: look after this time at the latest
	private static final Duration MAX_PAUSE = Duration.ofSeconds(1);

	// bounds the rate of attempts while a lease is about to expire
	private static final Duration MIN_PAUSE = Duration.ofMillis(5);

	// bounds the rate of attempts that fail at once
	private static final Duration FAILURE_PAUSE = Duration.ofMillis(100);

	private final LeaseCoordinator coordinator;

	private final LocalQueue queue;

	private final MonotonicClock clock;

	private final Duration commandTimeout;

	private final BackgroundReturns returns;

	private volatile boolean refusing;

	/**
	 * Create an acquirer.
	 * @param coordinator the coordinator
	 * @param clock the clock
	 * @param commandTimeout the longest time to wait for one answer
	 * @param returns gives back what no grant comes of
	 */
	LeaseAcquirer(LeaseCoordinator coordinator, MonotonicClock clock, Duration commandTimeout,
			BackgroundReturns returns) {
		this.coordinator = coordinator;
		this.queue = new LocalQueue(coordinator, clock);
		this.clock = clock;
		this.commandTimeout = commandTimeout;
		this.returns = returns;
	}

	/**
	 * Start the wait of one invocation.
	 * @param terms the terms
	 * @param owner the id of the invocation
	 * @return what to acquire its resources with, on the same thread
	 */
	Wait start(LeaseTerms terms, String owner) {
		return new Wait(terms, owner);
	}

	/**
	 * Refuse everything from now on, those that wait included.
	 */
	void refuse() {
		this.refusing = true;
	}

	/**
	 * Refuse nothing from now on.
	 */
	void accept() {
		this.refusing = false;
	}

	private static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private static Duration max(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

	/**
	 * The wait of one invocation: all its resources, one after the other, as one owner.
	 */
	final class Wait {

		private final LeaseTerms terms;

		private final String owner;

		private final long startedAt = LeaseAcquirer.this.clock.nanoTime();

		// whether an attempt for the present resource went without an answer
		private boolean undecided;

		// done when a place for the present resource may be in the coordinator's line
		private @Nullable CompletableFuture<?> linedUp;

		// why the coordinator gave no answer where it had its full time for it
		private @Nullable CoordinatorUnavailableException reason;

		// whether anything was seen to be leased to somebody else
		private boolean busySeen;

		private Wait(LeaseTerms terms, String owner) {
			this.terms = terms;
			this.owner = owner;
		}

		/**
		 * How long it has lasted.
		 * @return the time since its start
		 */
		Duration getWaited() {
			return Duration.ofNanos(LeaseAcquirer.this.clock.nanoTime() - this.startedAt);
		}

		private Duration getTimeLeft() {
			return max(Duration.ZERO, this.terms.waitTime().minus(getWaited()));
		}

		/**
		 * Acquire one resource.
		 * @param resource the resource
		 * @return the lease
		 * @throws LeaseNotAcquiredException if it stayed leased to somebody else
		 * @throws CoordinatorUnavailableException if there was no usable answer in time
		 * @throws ApplicationShutdownException if everything is refused
		 */
		Lease acquire(FencedResource resource) {
			LeaseRequest request = new LeaseRequest(this.terms.operation(), resource, this.owner,
					this.terms.leaseTime());
			this.undecided = false;
			this.linedUp = null;
			this.reason = null;
			try {
				return this.terms.waitTime().isZero() ? attemptOnce(request) : attemptInLine(request);
			}
			finally {
				if (this.undecided) {
					LeaseAcquirer.this.returns.abandon(request);
				}
				if (this.linedUp != null) {
					// not before: a place that is taken afterwards would be nobody's
					this.linedUp.whenComplete((ignored, failure) -> LeaseAcquirer.this.returns.abandon(request));
				}
			}
		}

		private Duration answerTimeout() {
			Duration own = this.terms.answerTimeout();
			return (own != null) ? min(own, LeaseAcquirer.this.commandTimeout) : LeaseAcquirer.this.commandTimeout;
		}

		private Lease attemptOnce(LeaseRequest request) {
			Attempt attempt = attempt(request, answerTimeout().minus(getWaited()));
			if (attempt.lease() == null) {
				throw notAcquired(request.resource(), attempt.takenFor());
			}
			return attempt.lease();
		}

		private Lease attemptInLine(LeaseRequest request) {
			FencedResource resource = request.resource();
			try (LocalQueue.Line line = LeaseAcquirer.this.queue.join(resource)) {
				try {
					if (line.awaitTurn(Duration.ZERO) || lineUp(request, line)) {
						return attemptUntilGranted(request, line);
					}
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
					checkAccepting(resource);
					throw notAcquired(line, resource, "the thread was interrupted while it waited");
				}
				throw notAcquired(line, resource,
						"the thread that asked on behalf of this JVM got no answer from Redis");
			}
		}

		private boolean lineUp(LeaseRequest request, LocalQueue.Line line) throws InterruptedException {
			lineUp(request);
			return line.awaitTurn(getTimeLeft());
		}

		private void lineUp(LeaseRequest request) {
			CompletableFuture<?> before = this.linedUp;
			CompletableFuture<?> place = LeaseAcquirer.this.coordinator.lineUp(request);
			this.linedUp = (before != null && place != null && !before.isDone())
					? CompletableFuture.allOf(before, place) : place;
		}

		// one that is taken only after the grant would be nobody's
		private void awaitPlace(FencedResource resource, Duration timeout) {
			try {
				if (this.linedUp != null && !this.linedUp.isDone()) {
					this.linedUp.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw unavailable(resource, "the thread was interrupted while it waited for an answer");
			}
			catch (TimeoutException ex) {
				throw unavailable(resource, "Redis gave no answer in time");
			}
			catch (ExecutionException ex) {
				// no place then
			}
		}

		private FencingException notAcquired(LocalQueue.Line line, FencedResource resource, String otherwise) {
			Duration takenFor = line.getTakenFor();
			return (takenFor != null) ? notAcquired(resource, takenFor) : unavailable(resource, otherwise);
		}

		private Lease attemptUntilGranted(LeaseRequest request, LocalQueue.Line line) throws InterruptedException {
			while (true) {
				Duration timeout = min(answerTimeout(), getTimeLeft());
				try {
					Attempt attempt = attempt(request, timeout);
					line.noteTaken(attempt.takenFor());
					if (attempt.lease() != null) {
						return attempt.lease();
					}
					lineUp(request);
					line.awaitRelease(request, min(getTimeLeft(), max(MIN_PAUSE, min(MAX_PAUSE, attempt.takenFor()))));
					if (getTimeLeft().isZero()) {
						throw notAcquired(request.resource(), line.getTakenFor());
					}
				}
				catch (CoordinatorUnavailableException ex) {
					pauseAfter(ex, timeout, line, request.resource());
				}
			}
		}

		private void pauseAfter(CoordinatorUnavailableException failure, Duration timeout, LocalQueue.Line line,
				FencedResource resource) throws InterruptedException {
			Duration takenFor = line.getTakenFor();
			boolean cutShort = timeout.compareTo(answerTimeout()) < 0;
			if (!cutShort || takenFor == null) {
				line.noteUnknown();
			}
			this.reason = (cutShort && this.reason != null) ? this.reason : failure;
			checkAccepting(resource);
			if (Thread.currentThread().isInterrupted()) {
				throw this.reason;
			}
			if (getTimeLeft().compareTo(FAILURE_PAUSE) > 0) {
				TimeUnit.NANOSECONDS.sleep(FAILURE_PAUSE.toNanos());
				return;
			}
			if ((takenFor != null || this.busySeen) && cutShort) {
				// the end of the wait cut this look short: what was seen before counts,
				// also where it was another resource that took the time
				LeaseNotAcquiredException notAcquired = notAcquired(resource, takenFor);
				notAcquired.addSuppressed(failure);
				throw notAcquired;
			}
			throw this.reason;
		}

		private Attempt attempt(LeaseRequest request, Duration timeout) {
			checkAccepting(request.resource());
			awaitPlace(request.resource(), timeout);
			boolean earlierUndecided = this.undecided;
			this.undecided = true;
			long startedAt = LeaseAcquirer.this.clock.nanoTime();
			Duration timeLeft = timeout;
			while (true) {
				// before the request is sent: the local deadline comes before the real
				// one
				long sentAt = LeaseAcquirer.this.clock.nanoTime();
				LeaseAnswer answer = LeaseAcquirer.this.coordinator.tryAcquire(request, timeLeft);
				if (answer instanceof Busy busy) {
					// what was asked for before may still be on its way
					this.undecided = earlierUndecided;
					this.busySeen = true;
					return new Attempt(null, busy.remaining());
				}
				Lease lease = new Lease(request, ((Granted) answer).token(), sentAt, LeaseAcquirer.this.clock);
				if (!lease.isLost()) {
					this.undecided = false;
					this.linedUp = null;
					return new Attempt(lease, request.leaseTime());
				}
				// too late, as may be on first use: the same owner gets its full time
				// again
				timeLeft = timeout.minusNanos(LeaseAcquirer.this.clock.nanoTime() - startedAt);
				if (timeLeft.isNegative()) {
					throw unavailable(request.resource(), "every grant arrived after its own end");
				}
			}
		}

		private void checkAccepting(FencedResource resource) {
			if (LeaseAcquirer.this.refusing) {
				throw new ApplicationShutdownException(this.terms.operation(), resource);
			}
		}

		private LeaseNotAcquiredException notAcquired(FencedResource resource, @Nullable Duration takenFor) {
			return new LeaseNotAcquiredException(this.terms.operation(), resource, getWaited(),
					(takenFor != null) ? takenFor : Duration.ZERO);
		}

		private CoordinatorUnavailableException unavailable(FencedResource resource, String problem) {
			return new CoordinatorUnavailableException(this.terms.operation(), resource, problem, null);
		}

	}

	/**
	 * What came of one attempt.
	 *
	 * @param lease the lease, {@code null} if somebody else has it
	 * @param takenFor how long the resource is taken
	 */
	private record Attempt(@Nullable Lease lease, Duration takenFor) {
	}

}
