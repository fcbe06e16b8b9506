package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.FencingListeners;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OnBusy;
import io.fencing.OperationOutcome;
import io.fencing.context.OperationContext;
import io.fencing.fence.FencingMode;
import io.fencing.lease.MonotonicClock;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations: the only place that knows the whole order of a call. Thread-safe.
 *
 * <p>
 * Refusals rank above results: a refusal that was recorded for an operation ends it,
 * whatever the body returned, threw or caught.
 */
public final class FencedOperationExecutor implements FencedOperations {

	private final OperationSettingsSource settings;

	private final FencedResourceFactory resources;

	private final OperationEntry entry;

	private final OperationObserver observer;

	private final FencingListeners listeners;

	private final MonotonicClock clock;

	/**
	 * Create an executor.
	 * @param settings finds the settings of a call
	 * @param resources makes resources of names
	 * @param entry enters enforced operations
	 * @param observer enters observed operations
	 * @param listeners told how calls end
	 * @param clock measures them
	 */
	public FencedOperationExecutor(OperationSettingsSource settings, FencedResourceFactory resources,
			OperationEntry entry, OperationObserver observer, FencingListeners listeners, MonotonicClock clock) {
		this.settings = settings;
		this.resources = resources;
		this.entry = entry;
		this.observer = observer;
		this.listeners = listeners;
		this.clock = clock;
	}

	@Override
	public <T extends @Nullable Object, E extends Exception> @Nullable T call(FencedOperationRequest request,
			FencedBody<T, E> body) throws E {
		if (this.settings.getMode(request.name()) == FencingMode.OFF) {
			return body.run();
		}
		OperationSettings settings = this.settings.resolve(request);
		long started = this.clock.nanoTime();
		OperationOutcome outcome = OperationOutcome.ERROR;
		try {
			Optional<RunningOperation> running = enter(request, settings);
			T result = running.isPresent() ? running.get().run(body) : null;
			outcome = running.isPresent() ? OperationOutcome.SUCCESS : OperationOutcome.SKIPPED;
			return result;
		}
		catch (FencingException ex) {
			outcome = Outcomes.of(ex);
			throw ex;
		}
		finally {
			this.listeners.onFinished(request.name(), outcome, Duration.ofNanos(this.clock.nanoTime() - started));
		}
	}

	private Optional<RunningOperation> enter(FencedOperationRequest request, OperationSettings settings) {
		OperationContext current = OperationContext.get();
		List<FencedResource> missing = request.resources()
			.stream()
			.map(this.resources::create)
			.filter((resource) -> current == null || !joins(settings, current, resource))
			.distinct()
			.sorted()
			.toList();
		if (missing.isEmpty()) {
			return Optional.of(RunningOperation.within(Objects.requireNonNull(current)));
		}
		if (settings.mode() == FencingMode.OBSERVE) {
			return Optional.of(this.observer.enter(request, settings, missing, current));
		}
		try {
			return Optional.of(this.entry.enter(request, settings, missing, current));
		}
		catch (LeaseNotAcquiredException ex) {
			if (settings.onBusy() == OnBusy.SKIP) {
				return Optional.empty();
			}
			throw ex;
		}
	}

	// an enforced operation cannot rest on one that is only observed
	private static boolean joins(OperationSettings settings, OperationContext current, FencedResource resource) {
		return (settings.mode() == FencingMode.OBSERVE) ? current.holds(resource) : current.holdsEnforced(resource);
	}

}
