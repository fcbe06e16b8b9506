package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

/**
 * A method and the {@link FencedOperation} that applies to it.
 *
 * @param method the most specific method, never a bridge
 * @param targetClass the user's class that is called
 * @param annotation the merged annotation
 * @param declaredOnType whether it was found on a type and not on a method
 */
record FencedMethod(Method method, Class<?> targetClass, FencedOperation annotation, boolean declaredOnType) {

	/**
	 * The name of the operation.
	 * @return the name as annotated, else {@code SimpleClass.method}
	 */
	String operationName() {
		String name = this.annotation.name();
		return !name.isEmpty() ? name : simpleName(this.targetClass) + "." + this.method.getName();
	}

	/**
	 * Make an exception that names this method.
	 * @param problem what is wrong, as a clause
	 * @param remedy what to change, as a clause
	 * @param cause the cause, if there is one that shows no argument
	 * @return the exception
	 */
	InvalidFencedOperationException invalid(String problem, String remedy, @Nullable Throwable cause) {
		return new InvalidFencedOperationException("@FencedOperation method '" + this + "': " + problem + "; " + remedy,
				cause);
	}

	private static String simpleName(Class<?> type) {
		String name = type.getSimpleName();
		return !name.isEmpty() ? name : type.getName().substring(type.getName().lastIndexOf('.') + 1);
	}

	@Override
	public String toString() {
		return Arrays.stream(this.method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", this.targetClass.getName() + "." + this.method.getName() + "(", ")"));
	}

}
