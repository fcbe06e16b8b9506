package io.fencing.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Whether a proxy can get hold of a method at all. On a final method a class proxy runs
 * the code on itself, with empty fields and without any advice.
 */
final class MethodFormRules {

	private final ProxyKind proxyKind;

	MethodFormRules(ProxyKind proxyKind) {
		this.proxyKind = proxyKind;
	}

	/**
	 * Verify a method.
	 * @param beanName the name of its bean
	 * @param beanType the class of the bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if no proxy reaches it
	 */
	void verify(String beanName, Class<?> beanType, FencedMethod method) {
		String problem = problem(method.method());
		if (problem == null) {
			problem = this.proxyKind.isSubclass(beanName, beanType) ? subclassProblem(beanType, method.method())
					: interfaceProblem(method);
		}
		if (problem != null) {
			throw method.invalid(problem + ", so no proxy can fence it",
					"make it a public, non-final instance method of a non-final class (in Kotlin: 'open')", null);
		}
	}

	private static @Nullable String problem(Method method) {
		int modifiers = method.getModifiers();
		if (Modifier.isStatic(modifiers)) {
			return "it is static";
		}
		return Modifier.isPrivate(modifiers) ? "it is private" : null;
	}

	private static @Nullable String subclassProblem(Class<?> beanType, Method method) {
		if (Modifier.isFinal(beanType.getModifiers())) {
			return "its class is final";
		}
		return Modifier.isFinal(method.getModifiers()) ? "it is final" : null;
	}

	private static @Nullable String interfaceProblem(FencedMethod fenced) {
		// an annotated class stands for those of its methods that the proxy has
		if (fenced.declaredOnType()) {
			return null;
		}
		Method method = fenced.method();
		boolean reachable = ClassUtils.getAllInterfacesForClassAsSet(fenced.targetClass())
			.stream()
			.anyMatch((type) -> ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes()));
		return reachable ? null : "its bean is proxied by its interfaces, none of which has the method";
	}

}
