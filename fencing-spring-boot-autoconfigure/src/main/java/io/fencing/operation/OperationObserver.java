package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

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
import io.fencing.lease.LeaseManager;
import io.fencing.lease.LeaseManager.LeaseTerms;
import io.fencing.lease.MonotonicClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enters an operation that is only observed, for adoption: it never waits for a lease,
 * never fails and never touches a transaction of the caller, also when Redis is down; it
 * counts what would have been refused. Thread-safe.
 */
public final class OperationObserver {

	private static final Logger logger = LoggerFactory.getLogger(OperationObserver.class);

	private static final String COORDINATOR = "coordinator";

	// an operation that must not wait still needs an answer
	private static final Duration ANSWER_TIMEOUT = Duration.ofMillis(250);

	private static final Duration PAUSE_WITHOUT_ANSWER = Duration.ofSeconds(5);

	private final LeaseManager leases;

	private final Supplier<List<Fence>> fences;

	private final FencingListeners listeners;

	private final MonotonicClock clock;

	private volatile long askAgainAt;

	/**
	 * Create an observer.
	 * @param leases acquires leases
	 * @param fences the fences of all storages
	 * @param listeners told what would have happened
	 * @param clock measures how long a coordinator that does not answer is left alone
	 */
	public OperationObserver(LeaseManager leases, Supplier<List<Fence>> fences, FencingListeners listeners,
			MonotonicClock clock) {
		this.leases = leases;
		this.fences = fences;
		this.listeners = listeners;
		this.clock = clock;
		this.askAgainAt = clock.nanoTime();
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
		return new RunningOperation(context, () -> {
			scope.close();
			context.end();
			if (leased) {
				if (context.getHeld().stream().anyMatch(HeldResource::isLost)) {
					this.listeners.onObserved(request.name(), COORDINATOR, Observation.REFUSED);
				}
				return this.leases.release(held);
			}
			return null;
		});
	}

	private List<? extends HeldResource> acquire(FencedOperationRequest request, OperationSettings settings,
			List<FencedResource> resources) {
		Observation observation = Observation.UNKNOWN;
		if (this.clock.nanoTime() - this.askAgainAt >= 0) {
			try {
				return this.leases.acquire(new LeaseTerms(request.name(), settings.leaseTime(), Duration.ZERO,
						settings.maxHold(), settings.minHold(), settings.renew(), ANSWER_TIMEOUT), resources);
			}
			catch (CoordinatorUnavailableException ex) {
				this.askAgainAt = this.clock.nanoTime() + PAUSE_WITHOUT_ANSWER.toNanos();
			}
			catch (FencingException ex) {
				observation = Observation.REFUSED;
			}
		}
		this.listeners.onObserved(request.name(), COORDINATOR, observation);
		return resources.stream().map(Unleased::new).toList();
	}

	private void observe(Fence fence, FencedOperationRequest request, OperationContext context) {
		Observation observation;
		try {
			boolean joined = fence.inspect(request.name(), request.ownTransaction()) != null;
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
