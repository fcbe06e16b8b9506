package io.fencing.aop;

import java.util.Set;

import org.aopalliance.aop.Advice;

/**
 * Advice of others that must know its place. Told by the names of its classes, since none
 * of them has to be there.
 */
enum AdviceKind {

	/**
	 * Calls a method again when it fails.
	 */
	RETRY("org.springframework.resilience.retry.AbstractRetryInterceptor",
			"org.springframework.retry.interceptor.RetryOperationsInterceptor",
			"org.springframework.retry.interceptor.StatefulRetryOperationsInterceptor",
			"org.springframework.retry.annotation.AnnotationAwareRetryOperationsInterceptor"),

	/**
	 * Answers for a method.
	 */
	CACHE("org.springframework.cache.interceptor.CacheAspectSupport",
			"org.springframework.cache.jcache.interceptor.JCacheAspectSupport"),

	/**
	 * Refuses arguments.
	 */
	VALIDATION("org.springframework.validation.beanvalidation.MethodValidationInterceptor"),

	/**
	 * Anything else.
	 */
	OTHER;

	private final Set<String> classNames;

	AdviceKind(String... classNames) {
		this.classNames = Set.of(classNames);
	}

	/**
	 * Tell the kind of an advice.
	 * @param advice the advice
	 * @return its kind
	 */
	static AdviceKind of(Advice advice) {
		for (Class<?> type = advice.getClass(); type != null; type = type.getSuperclass()) {
			for (AdviceKind kind : values()) {
				if (kind.classNames.contains(type.getName())) {
					return kind;
				}
			}
		}
		return OTHER;
	}

}
