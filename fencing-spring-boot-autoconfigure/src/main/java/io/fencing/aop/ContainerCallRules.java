package io.fencing.aop;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Whether the container itself calls a method when it creates or destroys the bean. It
 * calls the bean and not its proxy, which is made afterwards.
 */
final class ContainerCallRules {

	private static final List<String> ANNOTATIONS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private static final List<String> INJECTION_ANNOTATIONS = List.of(
			"org.springframework.beans.factory.annotation.Autowired", "jakarta.inject.Inject",
			"jakarta.annotation.Resource");

	private ContainerCallRules() {
	}

	/**
	 * Verify a method.
	 * @param definition the definition of its bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if the container calls it
	 */
	static void verify(RootBeanDefinition definition, FencedMethod method) {
		if (isCalled(definition, method.method(), method.targetClass()) || isInjected(method)) {
			throw method.invalid("the container calls it when it creates or destroys the bean, and by no proxy",
					method.declaredOnType() ? "annotate the methods that are operations instead of the class"
							: "let another bean call it, for example when the application is ready",
					null);
		}
	}

	private static boolean isCalled(RootBeanDefinition definition, Method method, Class<?> type) {
		if (method.getParameterCount() > 0) {
			return false;
		}
		String name = method.getName();
		return ANNOTATIONS.stream().anyMatch(annotations(method)::isPresent)
				|| names(definition.getInitMethodNames()).contains(name)
				|| (InitializingBean.class.isAssignableFrom(type) && name.equals("afterPropertiesSet"))
				|| (!definition.isPrototype() && isDestroying(definition, name, type));
	}

	// with an annotated class nobody means its setters
	private static boolean isInjected(FencedMethod method) {
		return !method.declaredOnType()
				&& INJECTION_ANNOTATIONS.stream().anyMatch(annotations(method.method())::isPresent);
	}

	// the container finds the annotation on a method that this one overrides
	private static MergedAnnotations annotations(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
	}

	private static boolean isDestroying(RootBeanDefinition definition, String name, Class<?> type) {
		if (DisposableBean.class.isAssignableFrom(type) && name.equals("destroy")) {
			return true;
		}
		List<String> names = names(definition.getDestroyMethodNames());
		if (names.contains(AbstractBeanDefinition.INFER_METHOD)
				|| (names.isEmpty() && AutoCloseable.class.isAssignableFrom(type))) {
			return !DisposableBean.class.isAssignableFrom(type)
					&& (name.equals("close") || (name.equals("shutdown") && !ClassUtils.hasMethod(type, "close")));
		}
		return names.contains(name);
	}

	private static List<String> names(String @Nullable [] names) {
		return (names != null) ? List.of(names) : List.of();
	}

}
