package io.fencing.operation;

import java.lang.reflect.Constructor;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import io.fencing.FencedOperationRequest;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OperationIdentity;
import io.fencing.RecordedFailureException;
import io.fencing.ResultCodec;
import io.fencing.journal.JournalEntry;
import io.fencing.journal.OperationState;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.util.ClassUtils;

/**
 * Answers that the journal keeps: results, and exceptions that are final. What was
 * written has been read again before it counts. Thread-safe.
 */
public final class RecordedAnswers {

	private static final byte[] NOTHING = new byte[0];

	private final ResultCodec codec;

	private final long maxBytes;

	/**
	 * Create an instance.
	 * @param codec writes and reads them
	 * @param maxBytes the greatest length of one
	 */
	public RecordedAnswers(ResultCodec codec, long maxBytes) {
		this.codec = codec;
		this.maxBytes = maxBytes;
	}

	/**
	 * Write a result.
	 * @param operation the name of the operation
	 * @param result the result
	 * @param type what it is read as
	 * @return what to keep
	 * @throws InvalidFencedOperationException if it cannot be kept
	 */
	byte[] write(String operation, @Nullable Object result, Type type) {
		byte[] bytes;
		Object again;
		try {
			bytes = this.codec.write(result, type);
			again = this.codec.read(bytes, type);
		}
		catch (RuntimeException ex) {
			// not as the cause, since its message may show the result
			throw unkept(operation, type, ex.getClass().getName());
		}
		if (result != null && again != null && !isAlike(result, again)) {
			throw unkept(operation, type,
					"a '" + result.getClass().getName() + "' becomes a '" + again.getClass().getName() + "'");
		}
		if (bytes.length > this.maxBytes) {
			throw new InvalidFencedOperationException(operation, null,
					"its result has " + bytes.length + " bytes, " + this.maxBytes
							+ " can be kept, nothing was committed",
					"return less, an id for instance, or raise 'fencing.journal.max-result-size'");
		}
		return bytes;
	}

	private static InvalidFencedOperationException unkept(String operation, Type type, String problem) {
		return new InvalidFencedOperationException(operation, null,
				"its result cannot be written and read again as '" + type.getTypeName() + "' (" + problem
						+ "), nothing was committed",
				"return what JSON can express, declared as what it is, or define a ResultCodec");
	}

	// what an open type or a superclass stands for may be lost, a stage has no end yet
	private static boolean isAlike(Object result, Object again) {
		return !(result instanceof CompletionStage) && (result.getClass() == again.getClass() || result.equals(again)
				|| (result instanceof Collection && again instanceof Collection)
				|| (result instanceof Map && again instanceof Map));
	}

	/**
	 * Write an exception.
	 * @param thrown what the body has thrown
	 * @return what to keep: its type, and its message unless that is too long
	 */
	byte[] write(Throwable thrown) {
		String type = thrown.getClass().getName();
		byte[] bytes = this.codec.write(new String[] { type, thrown.getMessage() }, String[].class);
		return (bytes.length <= this.maxBytes) ? bytes : this.codec.write(new String[] { type, null }, String[].class);
	}

	/**
	 * Answer with what is recorded.
	 * @param <E> the type of the exception that the body may throw
	 * @param entry shows an answer
	 * @param request the call
	 * @param identity its identity
	 * @return the recorded result
	 * @throws E the recorded exception
	 * @throws InvalidFencedOperationException if it cannot be read
	 */
	@SuppressWarnings("unchecked")
	<E extends Exception> @Nullable Object answer(JournalEntry entry, FencedOperationRequest request,
			OperationIdentity identity) throws E {
		byte[] recorded = entry.result();
		byte[] bytes = (recorded != null) ? recorded : NOTHING;
		if (entry.state() == OperationState.COMPLETED) {
			return read(request.name(), bytes, identity.resultType());
		}
		throw (E) failure(request.name(), bytes);
	}

	private @Nullable Object read(String operation, byte[] bytes, Type type) {
		try {
			return this.codec.read(bytes, type);
		}
		catch (RuntimeException ex) {
			// not as the cause, since its message may show the result
			throw new InvalidFencedOperationException(
					operation, null, "its recorded answer cannot be read as '" + type.getTypeName() + "' ("
							+ ex.getClass().getName() + "), nothing was done",
					"let the type, or the ResultCodec, read what was written before");
		}
	}

	private Throwable failure(String operation, byte[] bytes) {
		String[] failure = (String[]) read(operation, bytes, String[].class);
		String type = (failure != null && failure.length > 0) ? failure[0] : "unknown";
		String message = (failure != null && failure.length > 1) ? failure[1] : null;
		try {
			Class<?> found = ClassUtils.forName(type, null);
			if (Throwable.class.isAssignableFrom(found)) {
				Constructor<?> constructor = found.getDeclaredConstructor(String.class);
				return (Throwable) BeanUtils.instantiateClass(constructor, message);
			}
		}
		catch (ReflectiveOperationException | LinkageError | RuntimeException ex) {
			// told as what it is, without its class
			return new RecordedFailureException(operation, type);
		}
		return new RecordedFailureException(operation, type);
	}

}
