package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.ApplicationShutdownException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.LeaseNotAcquiredException;
import io.fencing.OnBusy;
import io.fencing.OperationIdentity;
import io.fencing.OperationOutcome;
import io.fencing.context.OperationContext;
import io.fencing.fence.FencingMode;
import io.fencing.journal.JournalEntry;
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

	private final Executor completions;

	private final Supplier<@Nullable JournaledOperations> journaled;

	/**
	 * Create an executor.
	 * @param settings finds the settings of a call
	 * @param resources makes resources of names
	 * @param entry enters enforced operations
	 * @param observer enters observed operations
	 * @param listeners told how calls end
	 * @param clock measures them
	 * @param completions where operations end whose result is a stage that has completed;
	 * its threads wait for the coordinator
	 * @param journaled prepares calls that have an identity, {@code null} where there is
	 * no journal
	 */
	public FencedOperationExecutor(OperationSettingsSource settings, FencedResourceFactory resources,
			OperationEntry entry, OperationObserver observer, FencingListeners listeners, MonotonicClock clock,
			Executor completions, Supplier<@Nullable JournaledOperations> journaled) {
		this.settings = settings;
		this.resources = resources;
		this.entry = entry;
		this.observer = observer;
		this.listeners = listeners;
		this.clock = clock;
		this.completions = completions;
		this.journaled = journaled;
	}

	@Override
	public <T extends @Nullable Object, E extends Exception> @Nullable T call(FencedOperationRequest request,
			FencedBody<T, E> body) throws E {
		if (this.settings.getMode(request.name()) == FencingMode.OFF) {
			return body.run();
		}
		OperationSettings settings = this.settings.resolve(request);
		long started = this.clock.nanoTime();
		Consumer<OperationOutcome> finished = (outcome) -> this.listeners.onFinished(request.name(), outcome,
				Duration.ofNanos(this.clock.nanoTime() - started));
		OperationIdentity identity = request.identity();
		if (identity == null) {
			return call(request, settings, body, finished, Outcomes::of);
		}
		JournaledCall<T, E> journaledCall;
		JournalEntry recorded;
		try {
			journaledCall = journal(request).prepare(request, identity, body);
			recorded = journaledCall.look();
		}
		catch (RuntimeException | Error ex) {
			finished.accept(Outcomes.of(ex));
			throw ex;
		}
		if (recorded != null && recorded.state().isAnswer()) {
			finished.accept(OperationOutcome.REPLAYED);
			return journaledCall.answer(recorded);
		}
		return call(request, settings, journaledCall, finished, (failure) -> {
			OperationOutcome outcome = journaledCall.getOutcome();
			return (outcome != null) ? outcome : Outcomes.of(failure);
		});
	}

	private JournaledOperations journal(FencedOperationRequest request) {
		JournaledOperations found = this.journaled.get();
		if (found == null) {
			throw new InvalidFencedOperationException(request.name(), null,
					"an operation identity needs the journal, which needs a fenced relational database",
					"add a DataSource with a transaction manager, or leave the identity out");
		}
		return found;
	}

	private <T extends @Nullable Object, E extends Exception> @Nullable T call(FencedOperationRequest request,
			OperationSettings settings, FencedBody<T, E> body, Consumer<OperationOutcome> finished,
			Function<@Nullable Throwable, OperationOutcome> outcomes) throws E {
		Optional<RunningOperation> running;
		try {
			running = enter(request, settings);
		}
		catch (RuntimeException | Error ex) {
			finished.accept(Outcomes.of(ex));
			throw ex;
		}
		if (running.isEmpty()) {
			finished.accept(OperationOutcome.SKIPPED);
			return null;
		}
		return running.get().run(body, (failure) -> finished.accept(outcomes.apply(failure)), this.completions);
	}

	private Optional<RunningOperation> enter(FencedOperationRequest request, OperationSettings settings) {
		OperationContext current = OperationContext.get();
		if (current != null && settings.mode() == FencingMode.ENFORCE) {
			current.checkNotEnded();
		}
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
		catch (LeaseNotAcquiredException | ApplicationShutdownException ex) {
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
