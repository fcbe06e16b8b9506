package io.fencing.operation;

import java.util.Objects;
import java.util.function.Supplier;

import io.fencing.AttemptEvent;
import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencedResource;
import io.fencing.FencingException;
import io.fencing.FencingToken;
import io.fencing.InvalidFencedOperationException;
import io.fencing.JournalUnavailableException;
import io.fencing.OperationConflictException;
import io.fencing.OperationIdentity;
import io.fencing.OperationOutcome;
import io.fencing.OutcomeUnknownException;
import io.fencing.context.OperationContext;
import io.fencing.journal.CommitUnknownException;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalFailureException;
import io.fencing.journal.JournalMove;
import io.fencing.journal.JournalTransaction;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;

/**
 * One call of an operation that has an identity. Bound to its thread.
 *
 * <p>
 * Why a lookup after the claim tells the truth: once a newer token has claimed, no
 * transaction of an earlier attempt is left that could still commit, since each one holds
 * the fence to its end. So a row that still says {@link OperationState#RUNNING} belongs
 * to an attempt that has changed nothing.
 *
 * @param <T> the type of the result
 * @param <E> the type of the exception
 */
final class JournaledCall<T extends @Nullable Object, E extends Exception> implements FencedBody<T, E> {

	// of two that move at once one succeeds; what the other one then sees is an answer,
	// a conflict, or an attempt that its claim has ended
	private static final int MOST_LOOKS = 5;

	private final JournaledOperations operations;

	private final FencedOperationRequest request;

	private final OperationIdentity identity;

	private final OperationKey key;

	private final FencedResource resource;

	private final String resources;

	private final String input;

	private final FencedBody<T, E> body;

	private @Nullable JournalEntry seen;

	private @Nullable OperationOutcome outcome;

	JournaledCall(JournaledOperations operations, FencedOperationRequest request, OperationIdentity identity,
			OperationKey key, FencedResource resource, String resources, String input, FencedBody<T, E> body) {
		this.operations = operations;
		this.request = request;
		this.identity = identity;
		this.key = key;
		this.resource = resource;
		this.resources = resources;
		this.input = input;
		this.body = body;
	}

	/**
	 * How the call has ended, where the exception or result alone does not tell.
	 * @return the outcome, {@code null} where it does
	 */
	@Nullable OperationOutcome getOutcome() {
		return this.outcome;
	}

	/**
	 * Look whether there is an answer already, before anything is leased.
	 * @return what the journal shows, {@code null} if that is nothing
	 * @throws OperationConflictException if the identity belongs to other work
	 * @throws OutcomeUnknownException if somebody has to decide first
	 * @throws JournalUnavailableException if the journal does not answer
	 */
	@Nullable JournalEntry look() {
		JournalEntry entry = available(() -> this.operations.getJournal().find(this.key));
		this.seen = entry;
		if (entry == null) {
			return null;
		}
		if (!entry.resources().equals(this.resources)) {
			throw new OperationConflictException(this.request.name(), this.identity.id(), "for another resource");
		}
		if (!InputFingerprint.areComparable(entry.input(), this.input)) {
			throw new InvalidFencedOperationException(this.request.name(), null,
					"its input was recorded with another 'fencing.journal.fingerprint-key', so that nobody can tell "
							+ "whether this is the same request; nothing was done",
					"set the key that it was recorded with, the same on all nodes");
		}
		if (!entry.input().equals(this.input)) {
			throw new OperationConflictException(this.request.name(), this.identity.id(), "with another input");
		}
		if (entry.state() == OperationState.UNDECIDED) {
			throw new OutcomeUnknownException(this.request.name(), this.identity.id());
		}
		return entry;
	}

	/**
	 * Answer with what is recorded.
	 * @param entry shows an answer
	 * @return the recorded result
	 * @throws E the recorded exception
	 */
	@SuppressWarnings({ "unchecked", "NullAway" })
	T answer(JournalEntry entry) throws E {
		this.outcome = OperationOutcome.REPLAYED;
		this.operations.getReports().tell(entry, AttemptEvent.ANSWERED);
		return (T) this.operations.getAnswers().<E>answer(entry, this.request, this.identity);
	}

	/**
	 * Run the body under the leases of its operation, unless somebody else has meanwhile:
	 * an attempt starts only from what was seen, so nobody need look again before.
	 */
	@Override
	public T run() throws E {
		OperationContext context = Objects.requireNonNull(OperationContext.get(), "No operation was entered");
		// its own transaction holds the fence, and what is answered needs none
		context.meetFence();
		FencingToken token = Objects.requireNonNull(context.find(this.resource), "Its resource is not held").getToken();
		for (int i = 0; i < MOST_LOOKS; i++) {
			JournalEntry seen = this.seen;
			if (seen != null && seen.state().isAnswer()) {
				return answer(seen);
			}
			boolean external = this.identity.external();
			if (seen != null && seen.state() == OperationState.RUNNING && (external || seen.external())) {
				doubt(seen);
			}
			else {
				JournalEntry attempt = (seen != null) ? seen.attempt(token, external) : new JournalEntry(this.key,
						OperationState.RUNNING, this.resources, this.input, token, external, 1, null);
				if (start(attempt, seen)) {
					return attempt(context, attempt);
				}
			}
			look();
		}
		throw new JournalUnavailableException(this.request.name(),
				new IllegalStateException("What it shows of this identity changes all the time"));
	}

	// nobody may guess what a dead attempt has done outside of the database
	private void doubt(JournalEntry dead) {
		if (available(() -> this.operations.getJournal().move(dead, JournalMove.DOUBT, null))) {
			this.operations.getReports().tell(dead, JournalMove.DOUBT);
		}
	}

	private boolean start(JournalEntry attempt, @Nullable JournalEntry seen) {
		try {
			boolean started = available(() -> this.operations.getJournal().start(attempt, seen));
			if (started) {
				this.operations.getReports().tell(attempt, AttemptEvent.STARTED);
			}
			return started;
		}
		catch (JournalUnavailableException ex) {
			// it may be recorded all the same, and has done nothing
			end(attempt, JournalMove.FAIL, null, ex);
			throw ex;
		}
	}

	private T attempt(OperationContext context, JournalEntry attempt) throws E {
		try (OperationContext.Scope scope = context.allowOneTransaction()) {
			return attemptInTransaction(context, attempt);
		}
	}

	private T attemptInTransaction(OperationContext context, JournalEntry attempt) throws E {
		JournalTransaction transaction = begin(context, attempt);
		T result;
		try {
			result = DeferredResults.checked(this.request.name(), this.body.run());
		}
		catch (Throwable ex) {
			fail(context, attempt, transaction, ex);
			throw ex;
		}
		complete(context, attempt, transaction, result);
		return result;
	}

	private JournalTransaction begin(OperationContext context, JournalEntry attempt) {
		JournalTransaction transaction = null;
		try {
			transaction = this.operations.getJournal().begin(attempt, this.identity.transaction());
			throwRefusal(context);
			return transaction;
		}
		catch (RuntimeException | Error ex) {
			if (transaction != null) {
				rollback(transaction, ex);
			}
			end(attempt, JournalMove.FAIL, null, ex);
			throw ex;
		}
	}

	private static void throwRefusal(OperationContext context) {
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
	}

	private void complete(OperationContext context, JournalEntry attempt, JournalTransaction transaction, T result) {
		byte[] bytes;
		try {
			throwRefusal(context);
			if (transaction.isRollbackOnly()) {
				transaction.rollback();
				this.outcome = OperationOutcome.ROLLED_BACK;
				end(attempt, this.identity.external() ? JournalMove.DOUBT : JournalMove.FAIL, null, null);
				return;
			}
			// the version of an entity, for instance, is part of the result
			transaction.writePending();
			bytes = this.operations.getAnswers().write(this.request.name(), result, this.identity.resultType());
		}
		catch (RuntimeException | Error ex) {
			rollback(attempt, transaction, null, ex);
			throw ex;
		}
		commit(attempt, transaction, JournalMove.COMPLETE, bytes);
	}

	private void fail(OperationContext context, JournalEntry attempt, JournalTransaction transaction,
			Throwable thrown) {
		boolean commits = false;
		byte[] answer = null;
		if (context.getRefusal() == null && !(thrown instanceof FencingException)) {
			try {
				commits = !transaction.isRollbackOnly() && !this.identity.transaction().rollbackOn().test(thrown);
				answer = (commits || this.identity.isFinal(thrown)) ? this.operations.getAnswers().write(thrown) : null;
			}
			catch (RuntimeException ex) {
				thrown.addSuppressed(ex);
			}
		}
		if (commits && answer != null) {
			commit(attempt, transaction, JournalMove.REJECT, answer);
		}
		else {
			rollback(attempt, transaction, answer, thrown);
		}
	}

	private void commit(JournalEntry attempt, JournalTransaction transaction, JournalMove move, byte[] answer) {
		try {
			transaction.commit(move, answer);
		}
		catch (CommitUnknownException ex) {
			this.operations.getReports().tell(attempt, AttemptEvent.UNKNOWN);
			throw new OutcomeUnknownException(this.request.name(), this.identity.id(), ex);
		}
		catch (RuntimeException | Error ex) {
			if (!transaction.isCommitted()) {
				end(attempt, this.identity.external() ? JournalMove.DOUBT : JournalMove.FAIL, null, ex);
			}
			else {
				this.operations.getReports().tell(attempt, move);
			}
			throw ex;
		}
		this.operations.getReports().tell(attempt, move);
	}

	private void rollback(JournalEntry attempt, JournalTransaction transaction, byte @Nullable [] answer,
			Throwable cause) {
		rollback(transaction, cause);
		JournalMove undone = this.identity.external() ? JournalMove.DOUBT : JournalMove.FAIL;
		boolean ended = end(attempt, (answer != null) ? JournalMove.REJECT : undone, answer, cause);
		if (!ended && answer != null) {
			// no answer is final before it is recorded
			this.operations.getReports().tell(attempt, AttemptEvent.UNKNOWN);
			throw new OutcomeUnknownException(this.request.name(), this.identity.id(), cause);
		}
	}

	private static void rollback(JournalTransaction transaction, Throwable cause) {
		try {
			transaction.rollback();
		}
		catch (RuntimeException ex) {
			// the server rolls back by itself what is never committed
			cause.addSuppressed(ex);
		}
	}

	// where it cannot be recorded, the row stays as that of an attempt that is dead
	private boolean end(JournalEntry attempt, JournalMove move, byte @Nullable [] answer, @Nullable Throwable cause) {
		try {
			boolean ended = this.operations.getJournal().move(attempt, move, answer);
			if (ended) {
				this.operations.getReports().tell(attempt, move);
			}
			return ended;
		}
		catch (RuntimeException ex) {
			if (cause != null) {
				cause.addSuppressed(ex);
			}
			return false;
		}
	}

	private <R extends @Nullable Object> R available(Supplier<R> task) {
		try {
			return task.get();
		}
		catch (JournalFailureException ex) {
			throw new JournalUnavailableException(this.request.name(), ex);
		}
	}

}
