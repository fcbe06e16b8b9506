package io.fencing;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * What somebody has found out about an {@link UndecidedOperation}. Immutable; shows no
 * result as text.
 */
public final class OperationDecision {

	private static final OperationDecision NOT_DONE = new OperationDecision(Kind.NOT_DONE, null, void.class);

	private static final OperationDecision UNKNOWN = new OperationDecision(Kind.UNKNOWN, null, void.class);

	private final Kind kind;

	private final @Nullable Object result;

	private final Type resultType;

	private OperationDecision(Kind kind, @Nullable Object result, Type resultType) {
		this.kind = kind;
		this.result = result;
		this.resultType = resultType;
	}

	/**
	 * It has happened: every later call with its identity is answered with this result.
	 * @param result the result, {@code null} for none
	 * @return the decision
	 */
	public static OperationDecision completed(@Nullable Object result) {
		return completed(result, (result != null) ? result.getClass() : Object.class);
	}

	/**
	 * It has happened: every later call with its identity is answered with this result.
	 * @param result the result
	 * @param resultType its type as the operation declares it, where the class of the
	 * result does not tell: {@code List<Receipt>} for instance
	 * @return the decision
	 */
	public static OperationDecision completed(@Nullable Object result, Type resultType) {
		return new OperationDecision(Kind.COMPLETED, result, resultType);
	}

	/**
	 * It has certainly not happened, and will not: the next call with its identity runs.
	 * @return the decision
	 */
	public static OperationDecision notDone() {
		return NOT_DONE;
	}

	/**
	 * It is still not known.
	 * @return the decision
	 */
	public static OperationDecision unknown() {
		return UNKNOWN;
	}

	/**
	 * What has been found out.
	 * @return the kind
	 */
	public Kind getKind() {
		return this.kind;
	}

	/**
	 * The result to answer with.
	 * @return the result, {@code null} for none
	 */
	public @Nullable Object getResult() {
		return this.result;
	}

	/**
	 * The type that the result is written as, where no method declares the operation.
	 * @return the type
	 */
	public Type getResultType() {
		return this.resultType;
	}

	@Override
	public String toString() {
		return this.kind.toString();
	}

	/**
	 * What can be found out.
	 */
	public enum Kind {

		/**
		 * It has happened.
		 */
		COMPLETED,

		/**
		 * It has certainly not happened.
		 */
		NOT_DONE,

		/**
		 * It is still not known.
		 */
		UNKNOWN

	}

}
