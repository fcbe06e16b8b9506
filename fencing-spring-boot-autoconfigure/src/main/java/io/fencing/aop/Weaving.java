package io.fencing.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import io.fencing.FencedOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What AspectJ has woven. It leaves marks that can be seen without its classes: the
 * aspect gets a method {@code aspectOf}, and the body of a method that is advised moves
 * to another one.
 */
public final class Weaving {

	private static final @Nullable Method ASPECT_OF = findAspectOf();

	private Weaving() {
	}

	private static @Nullable Method findAspectOf() {
		// without AspectJ the methods of the aspect cannot even be listed
		return ClassUtils.isPresent("org.aspectj.lang.ProceedingJoinPoint", Weaving.class.getClassLoader())
				? ReflectionUtils.findMethod(FencedOperationAspect.class, "aspectOf") : null;
	}

	/**
	 * The aspect that AspectJ weaves.
	 * @return its one instance, {@code null} if it weaves none
	 */
	static @Nullable FencedOperationAspect aspect() {
		return (ASPECT_OF != null) ? (FencedOperationAspect) ReflectionUtils.invokeMethod(ASPECT_OF, null) : null;
	}

	/**
	 * Whether a method is woven as an operation, so that no proxy has to fence it. Only a
	 * method that has the annotation itself, or whose class has it, can be.
	 * @param method the method that is run
	 * @return whether it is
	 */
	static boolean isWoven(Method method) {
		return aspect() != null && isMatched(method) && Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
			.anyMatch((other) -> other.getName().startsWith(method.getName() + "_aroundBody"));
	}

	private static boolean isMatched(Method method) {
		return method.isAnnotationPresent(FencedOperation.class) || (Modifier.isPublic(method.getModifiers())
				&& method.getDeclaringClass().isAnnotationPresent(FencedOperation.class));
	}

	/**
	 * Let woven methods run as they are, since fencing is switched off.
	 * @param disabled whether it is
	 */
	public static void setDisabled(boolean disabled) {
		FencedOperationAspect aspect = aspect();
		if (aspect != null) {
			aspect.setDisabled(disabled);
		}
	}

}
