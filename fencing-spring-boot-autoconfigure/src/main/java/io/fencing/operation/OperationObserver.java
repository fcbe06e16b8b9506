package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedResource;
import io.fencing.FencingException;
import io.fencing.FencingListeners;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.Observation;
import io.fencing.context.OperationContext;
import io.fencing.context.OperationContext.Scope;
import io.fencing.fence.Fence;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseManager;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enters an operation that is only observed, for adoption: it never waits for a lease,
 * never fails and never touches a transaction of the caller, also when Redis is down; it
 * counts what would have been refused. A coordinator that gives no answer is left alone
 * for a while, so that it does not slow down the calls of others. Thread-safe.
 */
public final class OperationObserver {

	private static final Logger logger = LoggerFactory.getLogger(OperationObserver.class);

	private static final String COORDINATOR = "coordinator";

	// an operation that must not wait still needs an answer
	private static final Duration ANSWER_TIMEOUT = Duration.ofMillis(250);

	private static final long PAUSE_WITHOUT_ANSWER = TimeUnit.SECONDS.toNanos(10);

	private final LeaseManager leases;

	private final Supplier<List<Fence>> fences;

	private final FencingListeners listeners;

	private final MonotonicClock clock;

	private final AtomicLong askAgainAt = new AtomicLong();

	private volatile boolean unanswered;

	/**
	 * Create an observer.
	 * @param leases acquires leases
	 * @param fences the fences of all storages
	 * @param listeners told what would have happened
	 * @param clock tells when to ask a coordinator again that gave no answer
	 */
	public OperationObserver(LeaseManager leases, Supplier<List<Fence>> fences, FencingListeners listeners,
			MonotonicClock clock) {
		this.leases = leases;
		this.fences = fences;
		this.listeners = listeners;
		this.clock = clock;
	}

	RunningOperation enter(FencedOperationRequest request, OperationSettings settings, List<FencedResource> resources,
			@Nullable OperationContext parent) {
		List<? extends HeldResource> held = acquire(request, settings, resources);
		boolean leased = !(held.get(0) instanceof Unleased);
		OperationContext context = new OperationContext(request.name(), held, parent, false);
		if (leased) {
			this.fences.get().forEach((fence) -> observe(fence, request, context));
		}
		Scope scope = context.open();
		context.onEnd(() -> leased ? release(request.name(), context) : null);
		return RunningOperation.entered(context, scope, UnaryOperator.identity());
	}

	private @Nullable RuntimeException release(String operation, OperationContext context) {
		if (context.getHeld().stream().anyMatch(HeldResource::isLost)) {
			this.listeners.onObserved(operation, COORDINATOR, Observation.REFUSED);
		}
		return this.leases.release(context.getHeld());
	}

	private List<? extends HeldResource> acquire(FencedOperationRequest request, OperationSettings settings,
			List<FencedResource> resources) {
		Observation observation = Observation.UNKNOWN;
		if (mayAsk()) {
			try {
				List<Lease> leases = this.leases.acquire(new LeaseTerms(request.name(), settings.leaseTime(),
						Duration.ZERO, settings.maxHold(), settings.minHold(), settings.renew(), ANSWER_TIMEOUT),
						resources);
				this.unanswered = false;
				return leases;
			}
			catch (CoordinatorUnavailableException ex) {
				this.askAgainAt.set(this.clock.nanoTime() + PAUSE_WITHOUT_ANSWER);
				this.unanswered = true;
			}
			catch (ApplicationShutdownException ex) {
				// says nothing about the resource
			}
			catch (FencingException ex) {
				observation = Observation.REFUSED;
			}
		}
		this.listeners.onObserved(request.name(), COORDINATOR, observation);
		return resources.stream().map(Unleased::new).toList();
	}

	private boolean mayAsk() {
		if (!this.unanswered) {
			return true;
		}
		long at = this.askAgainAt.get();
		long now = this.clock.nanoTime();
		// when the pause is over, one caller tries it for all
		return now - at >= 0 && this.askAgainAt.compareAndSet(at, now + PAUSE_WITHOUT_ANSWER);
	}

	private void observe(Fence fence, FencedOperationRequest request, OperationContext context) {
		Observation observation;
		try {
			boolean joined = fence.inspect(request.name(), request.runsOutside(fence::isManagedBy)) != null;
			observation = joined ? Observation.UNKNOWN : fence.observe(context);
		}
		catch (FencingException ex) {
			observation = Observation.REFUSED;
		}
		catch (RuntimeException ex) {
			logger.debug("Operation '{}' could not be observed at storage '{}'", request.name(), fence.getStorage(),
					ex);
			observation = Observation.UNKNOWN;
		}
		this.listeners.onObserved(request.name(), fence.getStorage(), observation);
	}

	/**
	 * Stands for a resource that an observed operation works on without a lease. Its
	 * token is zero: below every token that was ever given.
	 *
	 * @param getResource the resource
	 */
	private record Unleased(FencedResource getResource) implements HeldResource {

		private static final FencingToken TOKEN = new FencingToken(0, "observed");

		@Override
		public FencingToken getToken() {
			return TOKEN;
		}

		@Override
		public boolean isLost() {
			return false;
		}

		@Override
		public LossReason getLossReason() {
			return LossReason.NONE;
		}

		@Override
		public Duration getRemaining() {
			return Duration.ZERO;
		}

	}

}
