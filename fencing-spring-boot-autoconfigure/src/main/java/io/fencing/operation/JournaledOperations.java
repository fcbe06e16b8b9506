package io.fencing.operation;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import io.fencing.FencedOperationRequest;
import io.fencing.FencedOperations.FencedBody;
import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationIdentity;
import io.fencing.OperationTransaction;
import io.fencing.journal.JournalFailureException;
import io.fencing.journal.OperationJournal;
import io.fencing.journal.OperationKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operations that have an identity: what their calls need beside their leases.
 * Thread-safe.
 */
public final class JournaledOperations {

	private static final Logger logger = LoggerFactory.getLogger(JournaledOperations.class);

	private final OperationJournal journal;

	private final InputFingerprint inputs;

	private final RecordedAnswers answers;

	private final FencedResourceFactory resources;

	private final AttemptReports reports;

	private final Map<String, Declaration> declarations = new ConcurrentHashMap<>();

	private final AtomicBoolean verified = new AtomicBoolean();

	/**
	 * Create an instance.
	 * @param journal where they are recorded
	 * @param inputs tells inputs apart
	 * @param answers writes and reads what is recorded
	 * @param resources makes resources of names
	 * @param listeners told what becomes of them
	 */
	public JournaledOperations(OperationJournal journal, InputFingerprint inputs, RecordedAnswers answers,
			FencedResourceFactory resources, FencingListeners listeners) {
		this.journal = journal;
		this.inputs = inputs;
		this.answers = answers;
		this.resources = resources;
		this.reports = new AttemptReports(resources, listeners);
	}

	OperationJournal getJournal() {
		return this.journal;
	}

	RecordedAnswers getAnswers() {
		return this.answers;
	}

	AttemptReports getReports() {
		return this.reports;
	}

	/**
	 * Verify an operation at start, and with the first one the journal.
	 * @param operation its name
	 * @param method the method that it is
	 * @param resultType the type of its result
	 * @param transaction the transaction that it declares
	 * @throws InvalidFencedOperationException if its record cannot commit with its work,
	 * another method has its name, or nothing can be recorded at all
	 */
	public void verify(String operation, Method method, Type resultType, OperationTransaction transaction) {
		this.journal.check(operation, transaction);
		Declaration declared = this.declarations.computeIfAbsent(operation,
				(name) -> new Declaration(method, resultType));
		// one class may have several beans, and one interface several classes
		if (!declared.method().getName().equals(method.getName())
				|| !Arrays.equals(declared.method().getParameterTypes(), method.getParameterTypes())) {
			throw new InvalidFencedOperationException("its name '" + operation + "' is that of '" + declared.method()
					+ "' too, so that each could get the answers of the other; give it a name of its own");
		}
		if (this.verified.compareAndSet(false, true)) {
			verifyJournal();
		}
	}

	/**
	 * The type that results of an operation are read as.
	 * @param operation the name of the operation
	 * @return its declared type, {@code null} if no method of this application declares
	 * it
	 */
	@Nullable Type findResultType(String operation) {
		Declaration declared = this.declarations.get(operation);
		return (declared != null) ? declared.resultType() : null;
	}

	private void verifyJournal() {
		if (!this.inputs.isKeyed()) {
			logger.warn("Inputs of operations with an identity are told apart by plain hashes, from which whoever can "
					+ "read the journal may guess them; set 'fencing.journal.fingerprint-key', the same on all nodes");
		}
		try {
			this.journal.verify();
		}
		catch (JournalFailureException ex) {
			logger.warn("The journal could not be looked at; operations with an identity fail until its database can "
					+ "be reached", ex);
		}
	}

	/**
	 * Whether values of a type can be part of an input, as far as the type tells.
	 * @param type the type
	 * @return whether they can
	 */
	public boolean supportsInput(Type type) {
		return this.inputs.supports(type);
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
		OperationKey key = OperationKey.of(this.resources.getNamespace(), request.name(), identity.id());
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

	/**
	 * What a method with an identity declares.
	 *
	 * @param method the method
	 * @param resultType the type of its result
	 */
	private record Declaration(Method method, Type resultType) {
	}

}
