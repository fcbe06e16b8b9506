package io.fencing.aop;

import java.util.Set;

import org.aopalliance.aop.Advice;

/**
 * Advice of others that must know its place, and what is wrong when it runs inside of a
 * lease. Told by the names of its types, since none of them has to be there.
 */
enum AdviceKind {

	/**
	 * Calls a method again when it fails.
	 */
	RETRY(true, "it would be retried inside of one lease, with a token that may be stale",
			"have the retry applied outside of it: leave '@EnableResilientMethods' its order, and give '@EnableRetry' "
					+ "an order below 'fencing.aspect.order'",
			"org.springframework.resilience.retry.AbstractRetryInterceptor",
			"org.springframework.retry.interceptor.RetryOperationsInterceptor",
			"org.springframework.retry.interceptor.StatefulRetryOperationsInterceptor",
			"org.springframework.retry.annotation.AnnotationAwareRetryOperationsInterceptor"),

	/**
	 * Runs a method on another thread.
	 */
	ASYNC(true, "it would be handed to another thread inside of its lease, which that thread does not have",
			"leave '@EnableAsync' its order, or put '@Async' on a method that calls it",
			"org.springframework.aop.interceptor.AsyncExecutionInterceptor"),

	/**
	 * Lets callers wait for their turn.
	 */
	LIMIT(false, "its calls wait for their turn inside of the lease and keep it from others meanwhile",
			"leave '@EnableResilientMethods' its order, or put the limit on a method that calls it",
			"org.springframework.resilience.annotation.ConcurrencyLimitBeanPostProcessor$ConcurrencyLimitInterceptor",
			"org.springframework.aop.interceptor.ConcurrencyThrottleInterceptor"),

	/**
	 * Answers for a method.
	 */
	CACHE(false, "it is cached, and an answer from the cache still takes the lease",
			"put the cache on a method that calls it", "org.springframework.cache.interceptor.CacheAspectSupport",
			"org.springframework.cache.jcache.interceptor.JCacheAspectSupport"),

	/**
	 * Refuses arguments.
	 */
	VALIDATION(false, "it is validated, and arguments that are refused still take the lease",
			"put the constraints on a method that calls it",
			"org.springframework.validation.beanvalidation.MethodValidationInterceptor"),

	/**
	 * Refuses callers.
	 */
	SECURITY(false, "it is secured, and callers that are denied still take the lease",
			"have '@EnableMethodSecurity' apply its advice outside of it, or secure a method that calls it",
			"org.springframework.security.authorization.method.AuthorizationAdvisor"),

	/**
	 * Anything else.
	 */
	OTHER(false, "", "");

	private final boolean refusedInside;

	private final String problemInside;

	private final String remedy;

	private final Set<String> typeNames;

	AdviceKind(boolean refusedInside, String problemInside, String remedy, String... typeNames) {
		this.refusedInside = refusedInside;
		this.problemInside = problemInside;
		this.remedy = remedy;
		this.typeNames = Set.of(typeNames);
	}

	/**
	 * Tell the kind of an advice.
	 * @param advice the advice
	 * @return its kind
	 */
	static AdviceKind of(Advice advice) {
		for (Class<?> type = advice.getClass(); type != null; type = type.getSuperclass()) {
			for (AdviceKind kind : values()) {
				if (kind.includes(type)) {
					return kind;
				}
			}
		}
		return OTHER;
	}

	private boolean includes(Class<?> type) {
		if (this.typeNames.contains(type.getName())) {
			return true;
		}
		for (Class<?> implemented : type.getInterfaces()) {
			if (includes(implemented)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether no operation may have it inside of its lease.
	 * @return {@code false} if it only costs something there
	 */
	boolean isRefusedInside() {
		return this.refusedInside;
	}

	/**
	 * What is wrong with it inside of a lease.
	 * @return a clause, empty if nothing is
	 */
	String getProblemInside() {
		return this.problemInside;
	}

	/**
	 * What to change.
	 * @return a clause
	 */
	String getRemedy() {
		return this.remedy;
	}

}
