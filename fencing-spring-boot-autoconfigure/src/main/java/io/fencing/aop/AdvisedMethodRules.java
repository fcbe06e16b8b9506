package io.fencing.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * Whether the fence is around a method, around its transaction, and inside of its
 * retries. With the transaction outside, the lease would be given back before the commit,
 * and the work would read from a snapshot older than the lease. With retries inside, they
 * would go on with a token that was refused.
 */
final class AdvisedMethodRules {

	private static final Logger logger = LoggerFactory.getLogger(AdvisedMethodRules.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<MethodTransactions> transactions;

	AdvisedMethodRules(ConfigurableListableBeanFactory beanFactory, Supplier<MethodTransactions> transactions) {
		this.beanFactory = beanFactory;
		this.transactions = transactions;
	}

	/**
	 * Verify a method of a bean that exists.
	 * @param beanName the name of the bean
	 * @param bean the bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if its advice is missing or
	 * inside out
	 */
	void verifyBean(String beanName, Object bean, FencedMethod method) {
		List<Advisor> chain = new ArrayList<>();
		Object layer = bean;
		while (layer instanceof Advised advised) {
			chain.addAll(List.of(advised.getAdvisors()));
			layer = AopProxyUtils.getSingletonTarget(advised);
		}
		// an opaque proxy, and a wrapper around a proxy, do not show what they carry
		if (bean instanceof Advised || !(bean instanceof SpringProxy || isProxiedInside(beanName))) {
			verifyChain(chain, method);
		}
	}

	/**
	 * Verify a method of a bean that does not exist yet.
	 * @param type the class of the bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if its advice will be inside out
	 */
	void verifyType(Class<?> type, FencedMethod method) {
		List<Advisor> advisors = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(this.beanFactory, Advisor.class, true, false).values());
		List<Advisor> chain = AopUtils.findAdvisorsThatCanApply(advisors, type);
		AnnotationAwareOrderComparator.sort(chain);
		verifyChain(chain, method);
	}

	private void verifyChain(List<Advisor> chain, FencedMethod method) {
		boolean fenced = false;
		for (Advisor advisor : chain) {
			if (advisor instanceof FencedOperationAdvisor) {
				fenced = true;
			}
			else if (matches(advisor, method)) {
				if (fenced) {
					verifyInside(advisor, method);
				}
				else {
					verifyOutside(advisor, method);
				}
			}
		}
		if (!fenced) {
			throw notAdvised(method);
		}
	}

	private void verifyOutside(Advisor advisor, FencedMethod method) {
		if (this.transactions.get().isTransactional(advisor.getAdvice())) {
			throw method.invalid("its transaction would be opened outside of its lease",
					"give 'fencing.aspect.order' a number below the order of the transaction advice", null);
		}
	}

	private static void verifyInside(Advisor advisor, FencedMethod method) {
		switch (AdviceKind.of(advisor.getAdvice())) {
			case RETRY ->
				throw method.invalid("it would be retried inside of one lease, with a token that may be stale",
						"give 'fencing.aspect.order' a number above the order of the retry advice", null);
			case CACHE -> logger.warn("@FencedOperation method '{}' is cached: an answer from the cache still takes "
					+ "the lease; put the cache on a method that calls it", method);
			case VALIDATION -> logger.warn("@FencedOperation method '{}' is validated: arguments that are refused "
					+ "still take the lease; put the constraints on a method that calls it", method);
			case OTHER -> {
			}
		}
	}

	private static RuntimeException notAdvised(FencedMethod method) {
		return method.invalid("its bean does not carry the advice that fences it",
				"see that the bean is not created early (by a BeanPostProcessor or an advisor that needs it),"
						+ " not wrapped before it is proxied, and that proxies are enabled",
				null);
	}

	private static boolean matches(Advisor advisor, FencedMethod method) {
		return !(advisor instanceof PointcutAdvisor pointcut)
				|| pointcut.getPointcut().getMethodMatcher().matches(method.method(), method.targetClass());
	}

	private boolean isProxiedInside(String beanName) {
		return this.beanFactory.getMergedBeanDefinition(beanName)
			.hasAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE);
	}

}
