package io.fencing.operation;

import java.util.Comparator;
import java.util.stream.Collectors;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationIdentity;
import io.fencing.OperationTransaction;
import io.fencing.journal.OperationJournal;
import io.fencing.journal.OperationKey;
import org.jspecify.annotations.Nullable;

/**
 * Operations that have an identity: what their calls need beside their leases.
 * Thread-safe.
 */
public final class JournaledOperations {

	private final OperationJournal journal;

	private final InputFingerprint inputs;

	private final RecordedAnswers answers;

	private final FencedResourceFactory resources;

	/**
	 * Create an instance.
	 * @param journal where they are recorded
	 * @param inputs tells inputs apart
	 * @param answers writes and reads what is recorded
	 * @param resources makes resources of names
	 */
	public JournaledOperations(OperationJournal journal, InputFingerprint inputs, RecordedAnswers answers,
			FencedResourceFactory resources) {
		this.journal = journal;
		this.inputs = inputs;
		this.answers = answers;
		this.resources = resources;
	}

	OperationJournal getJournal() {
		return this.journal;
	}

	RecordedAnswers getAnswers() {
		return this.answers;
	}

	/**
	 * Verify an operation at start.
	 * @param operation its name
	 * @param transaction the transaction that it declares
	 * @throws io.fencing.InvalidFencedOperationException if its record cannot commit with
	 * its work
	 */
	public void verify(String operation, OperationTransaction transaction) {
		this.journal.check(operation, transaction);
	}

	/**
	 * Prepare a call, before anything is asked of anybody.
	 * @param <T> the type of the result
	 * @param <E> the type of the exception
	 * @param request the call
	 * @param identity its identity
	 * @param body its body
	 * @return the call
	 * @throws io.fencing.InvalidFencedOperationException if its input cannot be written,
	 * or it cannot have a transaction of its own here
	 */
	<T extends @Nullable Object, E extends Exception> JournaledCall<T, E> prepare(FencedOperationRequest request,
			OperationIdentity identity, FencedBody<T, E> body) {
		this.journal.check(request.name(), identity.transaction());
		FencedResource first = this.resources.create(request.resources().get(0));
		String keys = request.resources()
			.stream()
			.map(this.resources::create)
			.map(FencedResource::getKey)
			.distinct()
			.sorted(Comparator.naturalOrder())
			.collect(Collectors.joining(","));
		OperationKey key = OperationKey.of(first.getNamespace(), request.name(), identity.id());
		return new JournaledCall<>(this, request, identity, key, first, keys, fingerprint(request, identity), body);
	}

	private String fingerprint(FencedOperationRequest request, OperationIdentity identity) {
		try {
			return this.inputs.of(identity.input());
		}
		catch (RuntimeException ex) {
			// not as the cause, since its message may show the input
			throw new InvalidFencedOperationException(request.name(), null,
					"its input cannot be written (" + ex.getClass().getName() + "), nothing was done",
					"say what counts as its input with attribute 'input'");
		}
	}

}
