package io.fencing.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.aopalliance.aop.Advice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Whether the fence is around a method, around its transaction, and inside of its retries
 * and of changes of the thread. With the transaction outside, the lease would be given
 * back before the commit, and the work would read from a snapshot older than the lease.
 * With retries inside, they would go on with a token that was refused.
 */
final class AdvisedMethodRules {

	private static final Logger logger = LoggerFactory.getLogger(AdvisedMethodRules.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<MethodTransactions> transactions;

	private final ForetoldAdvisors foretold;

	AdvisedMethodRules(ConfigurableListableBeanFactory beanFactory, Supplier<MethodTransactions> transactions) {
		this.beanFactory = beanFactory;
		this.transactions = transactions;
		this.foretold = new ForetoldAdvisors(beanFactory);
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
		if (!(bean instanceof Advised) && (bean instanceof SpringProxy || isProxiedInside(beanName))) {
			// an opaque proxy, and a wrapper around a proxy, do not show what they carry
			verifyType(method.targetClass(), method);
			return;
		}
		List<Advisor> chain = new ArrayList<>();
		Object layer = bean;
		while (layer instanceof Advised advised) {
			Method called = calledOn(layer.getClass(), method.method());
			Class<?> target = advised.getTargetClass();
			Class<?> targetClass = (target != null) ? target : method.targetClass();
			Stream.of(advised.getAdvisors())
				.filter((advisor) -> matches(advisor, called, targetClass))
				.forEach(chain::add);
			layer = AopProxyUtils.getSingletonTarget(advised);
		}
		verifyChain(chain, method);
	}

	/**
	 * Verify a method of a bean that does not exist yet.
	 * @param type the class of the bean
	 * @param method the method
	 * @throws io.fencing.InvalidFencedOperationException if its advice will be missing or
	 * inside out
	 */
	void verifyType(Class<?> type, FencedMethod method) {
		verifyChain(this.foretold.of(type)
			.stream()
			.filter((advisor) -> matches(advisor, method.method(), method.targetClass()))
			.toList(), method);
	}

	private void verifyChain(List<Advisor> chain, FencedMethod method) {
		boolean fenced = false;
		Set<AdviceKind> inside = EnumSet.noneOf(AdviceKind.class);
		for (Advisor advisor : chain) {
			if (advisor instanceof FencedOperationAdvisor) {
				fenced = true;
			}
			else if (fenced) {
				inside.add(AdviceKind.of(advisor.getAdvice()));
			}
			else {
				verifyOutside(advisor.getAdvice(), method);
			}
		}
		if (!fenced) {
			throw method.invalid("its bean does not carry the advice that fences it",
					"see that the bean is not created early (by a BeanPostProcessor or an advisor that needs it),"
							+ " not wrapped before it is proxied, and that proxies are enabled",
					null);
		}
		inside.forEach((kind) -> verifyInside(kind, method));
	}

	private void verifyOutside(Advice advice, FencedMethod method) {
		if (this.transactions.get().isTransactional(advice)) {
			throw method.invalid("its transaction would be opened outside of its lease",
					"give 'fencing.aspect.order' a number below the order of the transaction advice", null);
		}
		if (AdviceKind.of(advice) == AdviceKind.CACHE) {
			logger.warn(
					"@FencedOperation method '{}': it is cached outside of its lease, and what is put into the cache"
							+ " may be older than what a newer holder has put; leave '@EnableCaching' its order",
					method);
		}
	}

	private static void verifyInside(AdviceKind kind, FencedMethod method) {
		if (kind.isRefusedInside()) {
			throw method.invalid(kind.getProblemInside(), kind.getRemedy(), null);
		}
		if (!kind.getProblemInside().isEmpty()) {
			logger.warn("@FencedOperation method '{}': {}; {}", method, kind.getProblemInside(), kind.getRemedy());
		}
	}

	// what a proxy by interfaces is called by may not carry what the class carries
	private static Method calledOn(Class<?> proxyType, Method method) {
		if (Proxy.isProxyClass(proxyType)) {
			for (Class<?> type : proxyType.getInterfaces()) {
				Method declared = ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
				if (declared != null) {
					return declared;
				}
			}
		}
		return method;
	}

	private static boolean matches(Advisor advisor, Method method, Class<?> targetClass) {
		if (!(advisor instanceof PointcutAdvisor)) {
			return true;
		}
		Pointcut pointcut = ((PointcutAdvisor) advisor).getPointcut();
		return pointcut.getClassFilter().matches(targetClass)
				&& pointcut.getMethodMatcher().matches(method, targetClass);
	}

	private boolean isProxiedInside(String beanName) {
		return this.beanFactory.containsBeanDefinition(BeanFactoryUtils.transformedBeanName(beanName))
				&& this.beanFactory.getMergedBeanDefinition(beanName)
					.hasAttribute(AutoProxyUtils.ORIGINAL_TARGET_CLASS_ATTRIBUTE);
	}

}
