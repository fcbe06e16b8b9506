package io.fencing.operation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.JournalUnavailableException;
import io.fencing.OperationDecision;
import io.fencing.OperationReconciler;
import io.fencing.context.OperationContext;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalMove;
import io.fencing.journal.OpenOperation;
import io.fencing.journal.OperationState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after operations with an identity that have no end and that nobody calls again.
 * An attempt is over when its lease can be had and its fence claimed: no transaction of
 * it is left then that could still commit, so what the journal shows is the truth. What
 * is undecided is asked of the {@link OperationReconciler} of its name. Thread-safe;
 * several nodes may do so at once.
 */
public final class Reconciliation {

	private static final Logger logger = LoggerFactory.getLogger(Reconciliation.class);

	private final JournaledOperations operations;

	private final OperationDecisions decisions;

	private final OperationEntry entry;

	private final OperationSettingsSource settings;

	private final FencedResourceFactory resources;

	private final Map<String, OperationReconciler> reconcilers;

	private final Schedule schedule;

	/**
	 * Create an instance.
	 * @param operations where operations are recorded
	 * @param decisions records what is found out
	 * @param entry acquires and claims
	 * @param settings knows the settings to acquire with
	 * @param resources makes resources of their keys
	 * @param reconcilers find out what has become of operations, by their names
	 * @param schedule when to look
	 */
	public Reconciliation(JournaledOperations operations, OperationDecisions decisions, OperationEntry entry,
			OperationSettingsSource settings, FencedResourceFactory resources,
			Map<String, OperationReconciler> reconcilers, Schedule schedule) {
		this.operations = operations;
		this.decisions = decisions;
		this.entry = entry;
		this.settings = settings;
		this.resources = resources;
		this.reconcilers = Map.copyOf(reconcilers);
		this.schedule = schedule;
	}

	/**
	 * Look after one batch of what is due.
	 * @return how many operations have got an end, or a state, by that
	 * @throws FencingException if the journal or the coordinator does not answer; what is
	 * left is looked after by a later run
	 */
	public int run() {
		int settled = 0;
		for (OpenOperation open : findDue()) {
			if (Thread.currentThread().isInterrupted()) {
				break;
			}
			if (this.operations.getJournal().putOff(open, this.schedule.delay(open.checks())) && settle(open)) {
				settled++;
			}
		}
		return settled;
	}

	private List<OpenOperation> findDue() {
		try {
			return this.operations.getJournal()
				.findDue(this.resources.getNamespace(), this.reconcilers.keySet(), this.schedule.batchSize());
		}
		catch (InvalidFencedOperationException ex) {
			// without its table nothing has an identity, and calls that want one tell it
			logger.debug("There is no journal to look at", ex);
			return List.of();
		}
	}

	private boolean settle(OpenOperation open) {
		JournalEntry seen = open.entry();
		try {
			if (seen.state() == OperationState.UNDECIDED) {
				return ask(open, Objects.requireNonNull(this.reconcilers.get(seen.key().name())));
			}
			return end(seen);
		}
		catch (CoordinatorUnavailableException | JournalUnavailableException ex) {
			// they would not answer for the next one either
			throw ex;
		}
		catch (InvalidFencedOperationException ex) {
			logger.warn("Operation '{}', identity {}, cannot be settled; tried again in {} s", seen.key().name(),
					this.operations.getReports().describe(seen), this.schedule.delay(open.checks()).toSeconds(), ex);
		}
		catch (FencingException ex) {
			logger.debug("Operation '{}', identity {}, is not settled yet: its lease is alive, or its resource in use",
					seen.key().name(), this.operations.getReports().describe(seen), ex);
		}
		return false;
	}

	private boolean ask(OpenOperation open, OperationReconciler reconciler) {
		OperationDecision decision;
		try {
			decision = Objects.requireNonNull(reconciler.reconcile(OperationDecisions.describe(open)), "No decision");
		}
		catch (Exception ex) {
			if (ex instanceof InterruptedException || Thread.currentThread().isInterrupted()) {
				// the application stops
				Thread.currentThread().interrupt();
				return false;
			}
			logger.warn("The reconciler of operation '{}' failed about identity {}; it is asked again in {} s",
					open.entry().key().name(), this.operations.getReports().describe(open.entry()),
					this.schedule.delay(open.checks()).toSeconds(), ex);
			return false;
		}
		return this.decisions.decide(open.entry(), decision);
	}

	private boolean end(JournalEntry seen) {
		FencedOperationRequest request = FencedOperationRequest.of(seen.key().name(), seen.resources());
		List<FencedResource> held = Stream.of(seen.resources().split(",")).map(this.resources::ofKey).sorted().toList();
		// what application.yml says of the operation may fit only what its calls say
		RunningOperation running = this.entry.enter(request, this.settings.getDefaults().atOnce(), held, null);
		return running.run(() -> endWhileHeld(seen), (failure) -> {
		}, Runnable::run);
	}

	private boolean endWhileHeld(JournalEntry seen) {
		Objects.requireNonNull(OperationContext.get(), "No operation was entered").meetFence();
		JournalEntry now = this.operations.getJournal().find(seen.key());
		if (now == null || now.state() != OperationState.RUNNING || !now.token().equals(seen.token())) {
			return false;
		}
		JournalMove move = now.external() ? JournalMove.DOUBT : JournalMove.FAIL;
		boolean moved = this.operations.getJournal().move(now, move, null);
		if (moved) {
			this.operations.getReports().tell(now, move);
		}
		return moved;
	}

	/**
	 * When operations without an end are looked after. Immutable.
	 *
	 * @param first the time between the first and the second look, and before the first
	 * one at an attempt
	 * @param longest the longest time between two looks; each one is twice as long as the
	 * one before
	 * @param batchSize the greatest number of operations in one run
	 */
	public record Schedule(Duration first, Duration longest, int batchSize) {

		Duration delay(int checks) {
			Duration delay = this.first;
			for (int i = 0; i < checks && delay.compareTo(this.longest) < 0; i++) {
				delay = delay.multipliedBy(2);
			}
			return (delay.compareTo(this.longest) < 0) ? delay : this.longest;
		}

	}

}
