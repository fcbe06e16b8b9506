package io.fencing.operation;

import java.lang.reflect.Type;
import java.util.List;
import java.util.function.Supplier;

import io.fencing.FencedResourceFactory;
import io.fencing.JournalUnavailableException;
import io.fencing.OperationDecision;
import io.fencing.UndecidedOperation;
import io.fencing.UndecidedOperations;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.JournalFailureException;
import io.fencing.journal.JournalMove;
import io.fencing.journal.OpenOperation;
import io.fencing.journal.OperationKey;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.Assert;

/**
 * Finds and records decisions about undecided operations. A decision needs no lease: as
 * long as an operation is undecided no call of it runs, and the record changes only from
 * the attempt that was seen. Thread-safe.
 */
public final class OperationDecisions implements UndecidedOperations {

	private static final Logger logger = LoggerFactory.getLogger(OperationDecisions.class);

	private final JournaledOperations operations;

	private final String namespace;

	/**
	 * Create an instance.
	 * @param operations where they are recorded
	 * @param resources tells the namespace
	 */
	public OperationDecisions(JournaledOperations operations, FencedResourceFactory resources) {
		this.operations = operations;
		this.namespace = resources.getNamespace();
	}

	@Override
	public List<UndecidedOperation> find(int limit) {
		Assert.isTrue(limit > 0, "'limit' must be above zero");
		return available("undecided operations",
				() -> this.operations.getJournal().findUndecided(this.namespace, limit))
			.stream()
			.map(OperationDecisions::describe)
			.toList();
	}

	static UndecidedOperation describe(OpenOperation open) {
		JournalEntry entry = open.entry();
		return new UndecidedOperation(entry.key().name(), entry.key().identity(), entry.token(), entry.attempts(),
				open.since(), open.checks());
	}

	@Override
	public boolean decide(UndecidedOperation operation, OperationDecision decision) {
		OperationKey key = OperationKey.of(this.namespace, operation.name(), operation.operationId());
		JournalEntry entry = available(operation.name(), () -> this.operations.getJournal().find(key));
		return entry != null && entry.token().equals(operation.token()) && entry.attempts() == operation.attempts()
				&& decide(entry, decision);
	}

	/**
	 * Decide what has become of one operation.
	 * @param seen what the journal shows of it
	 * @param decision the decision
	 * @return whether it was recorded
	 */
	boolean decide(JournalEntry seen, OperationDecision decision) {
		if (seen.state() != OperationState.UNDECIDED) {
			return false;
		}
		return switch (decision.getKind()) {
			case COMPLETED -> record(seen, JournalMove.COMPLETE, write(seen.key().name(), decision));
			case NOT_DONE -> record(seen, JournalMove.FAIL, null);
			case UNKNOWN -> false;
		};
	}

	// as calls will read it, where that is known here
	private byte[] write(String operation, OperationDecision decision) {
		Type declared = this.operations.findResultType(operation);
		return this.operations.getAnswers()
			.write(operation, decision.getResult(), (declared != null) ? declared : decision.getResultType());
	}

	private boolean record(JournalEntry seen, JournalMove move, byte @Nullable [] result) {
		boolean recorded = available(seen.key().name(), () -> this.operations.getJournal().move(seen, move, result));
		if (recorded) {
			this.operations.getReports().tell(seen, move);
			logger.info("Operation '{}', identity {}, which was undecided: {}", seen.key().name(),
					this.operations.getReports().describe(seen), move);
		}
		return recorded;
	}

	private static <T extends @Nullable Object> T available(String operation, Supplier<T> task) {
		try {
			return task.get();
		}
		catch (JournalFailureException ex) {
			throw new JournalUnavailableException(operation, ex);
		}
	}

}
