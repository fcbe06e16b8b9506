package io.fencing.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

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
		Problem problem = problem(method.method());
		if (problem == null) {
			problem = this.proxyKind.isSubclass(beanName, beanType) ? subclassProblem(beanType, method.method())
					: interfaceProblem(beanType, method);
		}
		if (problem != null) {
			throw method.invalid(problem.fact() + ", so no proxy can fence it", problem.remedy(), null);
		}
	}

	/**
	 * Verify that not two creators of proxies have found the same bean: each call would
	 * be two operations, and all other advice would be twice as well.
	 * @param bean the bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if it is fenced twice
	 */
	void verifyOnce(Object bean, FencedMethod method) {
		if (isFenced(bean) && bean instanceof Advised outer && isFenced(AopProxyUtils.getSingletonTarget(outer))) {
			throw method.invalid("its bean is proxied twice, by two auto-proxy creators",
					"remove the one that the application has declared itself", null);
		}
	}

	private static boolean isFenced(@Nullable Object proxy) {
		return proxy instanceof Advised advised
				&& Arrays.stream(advised.getAdvisors()).anyMatch(FencedOperationAdvisor.class::isInstance);
	}

	private static @Nullable Problem problem(Method method) {
		if (Modifier.isStatic(method.getModifiers())) {
			return new Problem("it is static", "make it a method of the bean");
		}
		if (Modifier.isPrivate(method.getModifiers())) {
			return new Problem("it is private", "make it public, and call it from another bean");
		}
		return ReflectionUtils.isObjectMethod(method)
				? new Problem("it is a method that every object has", "let the operation be another method") : null;
	}

	private static @Nullable Problem subclassProblem(Class<?> beanType, Method method) {
		Problem problem = subclassProblem(beanType);
		if (problem != null) {
			return problem;
		}
		if (Modifier.isFinal(method.getModifiers())) {
			return new Problem("it is final", "make it non-final (in Kotlin: 'open')");
		}
		return isVisible(beanType, method) ? null : new Problem(
				"it is visible only in a package that is not that of its bean", "make it public or protected");
	}

	private static @Nullable Problem subclassProblem(Class<?> beanType) {
		// such a type is the declared one, and not that of the object
		if (Modifier.isAbstract(beanType.getModifiers())) {
			return null;
		}
		if (Modifier.isFinal(beanType.getModifiers())) {
			return new Problem("its class is final", "make the class non-final (in Kotlin: 'open'), or let it be"
					+ " proxied by an interface with 'spring.aop.proxy-target-class=false'");
		}
		String fact = null;
		if (beanType.isSealed()) {
			fact = "its class is sealed";
		}
		else if (beanType.isHidden()) {
			fact = "its class is hidden";
		}
		else if (Arrays.stream(beanType.getDeclaredConstructors())
			.allMatch((constructor) -> Modifier.isPrivate(constructor.getModifiers()))) {
			fact = "its class has private constructors only";
		}
		return (fact != null) ? new Problem(fact, "let the operation be a method of a class that may have subclasses")
				: null;
	}

	// a proxy is made in the package of the bean's class, where nothing of another one is
	// overridden
	private static boolean isVisible(Class<?> beanType, Method method) {
		Class<?> declaringType = method.getDeclaringClass();
		return Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers())
				|| (declaringType.getPackageName().equals(beanType.getPackageName())
						&& declaringType.getClassLoader() == beanType.getClassLoader());
	}

	private static @Nullable Problem interfaceProblem(Class<?> beanType, FencedMethod fenced) {
		// an annotated class stands for those of its methods that the proxy has
		if (fenced.declaredOnType()) {
			return null;
		}
		boolean reachable = ClassUtils.getAllInterfacesForClassAsSet(beanType)
			.stream()
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.map((method) -> FencedOperationSource.specific(method, beanType))
			.anyMatch(fenced.method()::equals);
		return reachable ? null : new Problem("its bean is proxied by its interfaces, none of which has the method",
				"add it to an interface, or let the class be proxied with 'spring.aop.proxy-target-class=true'");
	}

	/**
	 * What is wrong with a method.
	 *
	 * @param fact what it is, as a clause
	 * @param remedy what to change, as a clause
	 */
	private record Problem(String fact, String remedy) {
	}

}
