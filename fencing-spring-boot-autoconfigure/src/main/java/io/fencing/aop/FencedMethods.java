package io.fencing.aop;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * The operations of a class. Answers are kept, since beans of one class may be created
 * often. Thread-safe.
 */
final class FencedMethods {

	private static final Logger logger = LoggerFactory.getLogger(FencedMethods.class);

	private final Supplier<FencedOperationSource> source;

	private final Map<Class<?>, Collection<FencedMethod>> methods = new ConcurrentReferenceHashMap<>();

	/**
	 * Create an instance.
	 * @param source finds what is annotated; asked for with the first class
	 */
	FencedMethods(Supplier<FencedOperationSource> source) {
		this.source = source;
	}

	/**
	 * Find the operations of a class.
	 * @param type the class, or a proxy's class
	 * @return its methods, none for a class that cannot be looked at
	 */
	Collection<FencedMethod> of(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		return this.source.get().isCandidate(type) ? this.methods.computeIfAbsent(userClass, this::find) : List.of();
	}

	private Collection<FencedMethod> find(Class<?> userClass) {
		FencedOperationSource current = this.source.get();
		MethodIntrospector.MetadataLookup<FencedMethod> lookup = (method) -> current.isFenced(method, userClass)
				? current.getFencedMethod(method, userClass) : null;
		try {
			return List.copyOf(MethodIntrospector.selectMethods(userClass, lookup).values());
		}
		catch (IllegalStateException | LinkageError ex) {
			logger.debug("Type '{}' uses types that are absent; it cannot become a bean here", userClass.getName(), ex);
			return List.of();
		}
	}

}
