package io.fencing.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.fencing.FencedOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds what is to be known about a method: first on the most specific method (with the
 * methods that it overrides or implements), then on the type that declares it, then on
 * the method that was called and its type. An annotation on a type stands for its public
 * methods; as with {@code @Transactional}, it does not reach up to methods that are only
 * inherited. Meta-annotations are merged and bridge methods resolved.
 *
 * <p>
 * Answers are kept per method and target class. Thread-safe.
 */
public final class FencedOperationSource {

	private final Map<MethodClassKey, Optional<FencedMethod>> methods = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, Optional<FencedOperationMetadata>> metadata = new ConcurrentHashMap<>();

	private final FencedOperationMetadataReader reader;

	/**
	 * Create a source.
	 * @param beanFactory resolves placeholders and bean references; nothing is asked of
	 * it before the first operation is read
	 */
	public FencedOperationSource(ConfigurableBeanFactory beanFactory) {
		this.reader = new FencedOperationMetadataReader(beanFactory);
	}

	/**
	 * Whether a class is worth looking at.
	 * @param type the class
	 * @return {@code false} if no method of it can be an operation
	 */
	boolean isCandidate(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, FencedOperation.class);
	}

	/**
	 * Whether a method is an operation. A negative answer is not kept: proxies ask once
	 * for every method of every bean.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return whether it is one
	 */
	boolean isFenced(Method method, Class<?> targetClass) {
		Optional<FencedMethod> known = this.methods.get(new MethodClassKey(method, targetClass));
		return (known != null) ? known.isPresent() : find(method, targetClass) != null;
	}

	/**
	 * Find the annotation of a method.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return what was found, {@code null} if the method is no operation
	 */
	@Nullable FencedMethod getFencedMethod(Method method, Class<?> targetClass) {
		return this.methods
			.computeIfAbsent(new MethodClassKey(method, targetClass),
					(key) -> Optional.ofNullable(find(method, targetClass)))
			.orElse(null);
	}

	/**
	 * Read everything about a method.
	 * @param method the method
	 * @param targetClass the class that it is called on
	 * @return the metadata, {@code null} if the method is no operation
	 * @throws io.fencing.InvalidFencedOperationException if it is annotated wrongly
	 */
	@Nullable FencedOperationMetadata getMetadata(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<FencedOperationMetadata> known = this.metadata.get(key);
		if (known == null) {
			// not in computeIfAbsent: reading resolves placeholders, which may come back
			known = Optional.ofNullable(getFencedMethod(method, targetClass)).map(this.reader::read);
			this.metadata.put(key, known);
		}
		return known.orElse(null);
	}

	private static @Nullable FencedMethod find(Method method, Class<?> targetClass) {
		if (method.getDeclaringClass() == Object.class) {
			return null;
		}
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		Method specific = specific(method, userClass);
		FencedMethod found = find(specific, specific, userClass);
		return (found != null || specific.equals(method)) ? found : find(method, specific, userClass);
	}

	/**
	 * Find the method that is run, or the one that it stands for if its class was made at
	 * runtime: that has neither annotations nor the names of parameters.
	 * @param method the method that is called
	 * @param userClass the class that it is called on
	 * @return the most specific method, never a bridge
	 */
	static Method specific(Method method, Class<?> userClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		return (Proxy.isProxyClass(userClass) || ClassUtils.isLambdaClass(userClass))
				? ClassUtils.getInterfaceMethodIfPossible(specific, userClass) : specific;
	}

	private static @Nullable FencedMethod find(Method annotated, Method specific, Class<?> userClass) {
		Class<?> declaringType = annotated.getDeclaringClass();
		// a proxy of a proxy is called through an interface that its target does not have
		Class<?> type = (declaringType.isAssignableFrom(userClass) && !Proxy.isProxyClass(userClass)) ? userClass
				: declaringType;
		FencedOperation onMethod = merged(annotated);
		if (onMethod != null) {
			return new FencedMethod(specific, type, onMethod, false);
		}
		if (!Modifier.isPublic(specific.getModifiers()) || Modifier.isStatic(specific.getModifiers())
				|| ReflectionUtils.isObjectMethod(specific) || !ClassUtils.isUserLevelMethod(annotated)) {
			return null;
		}
		FencedOperation onType = merged(declaringType);
		return (onType != null) ? new FencedMethod(specific, type, onType, true) : null;
	}

	private static @Nullable FencedOperation merged(AnnotatedElement element) {
		return AnnotatedElementUtils.findMergedAnnotation(element, FencedOperation.class);
	}

}
