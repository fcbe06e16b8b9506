package io.fencing.aop;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;

/**
 * Verifies beans while they are created, and remembers what those with operations were
 * before anything wrapped them. A factory has the name of its product with a {@code &}
 * before it. Thread-safe.
 */
final class CreatedBeans {

	private final ConfigurableListableBeanFactory beanFactory;

	private final FencedBeanRules rules;

	private final Map<String, Class<?>> types = new ConcurrentHashMap<>();

	// what was a proxy already when it was made, perhaps of another bean
	private final Set<String> madeOfProxies = ConcurrentHashMap.newKeySet();

	private volatile boolean started;

	CreatedBeans(ConfigurableListableBeanFactory beanFactory, FencedBeanRules rules) {
		this.beanFactory = beanFactory;
		this.rules = rules;
	}

	/**
	 * Look at beans before anything has wrapped them. Has to come first.
	 */
	void seeUnproxied() {
		Unproxied unproxied = new Unproxied();
		this.beanFactory.addBeanPostProcessor(unproxied);
		// what is there already was created too early for everything
		for (String beanName : this.beanFactory.getSingletonNames()) {
			Object singleton = this.beanFactory.getSingleton(beanName);
			if (singleton != null && this.beanFactory.containsBeanDefinition(beanName)) {
				unproxied.postProcessAfterInitialization(singleton, beanName);
			}
		}
	}

	/**
	 * Look at beans as others get them. Has to come last.
	 */
	void seeFinished() {
		this.beanFactory.addBeanPostProcessor(new Finished());
	}

	/**
	 * From here on nobody else looks at singletons.
	 */
	void setStarted() {
		this.started = true;
	}

	/**
	 * Find out what a bean is.
	 * @param beanName its name
	 * @return its class before anything wrapped it, {@code null} for a bean that has no
	 * operations or was not created
	 */
	@Nullable Class<?> typeOf(String beanName) {
		return this.types.get(beanName);
	}

	/**
	 * Verify a bean as others get it.
	 * @param beanName its name
	 * @param type its class before anything wrapped it
	 * @param bean the bean
	 */
	void verifyFinished(String beanName, Class<?> type, Object bean) {
		this.rules.verifyFinished(beanName, type, bean, !this.madeOfProxies.contains(beanName));
	}

	private void verifyUnproxied(String beanName, Class<?> type, @Nullable RootBeanDefinition definition) {
		if (this.rules.operations(type).isEmpty()) {
			this.types.remove(beanName);
		}
		else if (type != this.types.get(beanName)) {
			this.rules.verifyUnproxied(beanName, type, definition);
			this.types.put(beanName, type);
		}
	}

	private boolean isOurs(String beanName, Class<?> type) {
		return !isSource(type) && !beanName.endsWith(AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX)
				&& !this.beanFactory.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(beanName));
	}

	// it is asked about every other bean
	private static boolean isSource(Class<?> type) {
		return type == FencedOperationSource.class;
	}

	private boolean isVerifiedAtStart(String beanName) {
		return !this.started && this.beanFactory.containsBeanDefinition(beanName)
				&& this.beanFactory.isSingleton(beanName) && !this.beanFactory.isFactoryBean(beanName);
	}

	private static String nameOf(Class<?> type, String beanName) {
		return FactoryBean.class.isAssignableFrom(type) ? BeanFactory.FACTORY_BEAN_PREFIX + beanName : beanName;
	}

	/**
	 * Sees beans first.
	 */
	private final class Unproxied implements MergedBeanDefinitionPostProcessor {

		@Override
		public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String beanName) {
			if (!isSource(type)) {
				verifyUnproxied(nameOf(type, beanName), type, definition);
			}
		}

		// what factories have made, and prototypes that are of another class than before
		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (isOurs(beanName, bean.getClass())) {
				String name = nameOf(bean.getClass(), beanName);
				// a factory of proxies tells the class of what it makes
				Class<?> type = (bean instanceof FactoryBean) ? bean.getClass()
						: AopProxyUtils.ultimateTargetClass(bean);
				verifyUnproxied(name, type, null);
				if (bean instanceof Advised && typeOf(name) != null) {
					CreatedBeans.this.madeOfProxies.add(name);
				}
			}
			return bean;
		}

	}

	/**
	 * Sees beans last.
	 */
	private final class Finished implements SmartInstantiationAwareBeanPostProcessor {

		// others have got these already
		private final Set<String> early = ConcurrentHashMap.newKeySet();

		private final Map<String, Class<?>> verified = new ConcurrentHashMap<>();

		@Override
		public Object getEarlyBeanReference(Object bean, String beanName) {
			verify(bean, beanName);
			this.early.add(beanName);
			return bean;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!this.early.remove(beanName)) {
				verify(bean, beanName);
			}
			return bean;
		}

		private void verify(Object bean, String beanName) {
			String name = nameOf(bean.getClass(), beanName);
			Class<?> type = typeOf(name);
			if (type != null && type != this.verified.get(name) && !isVerifiedAtStart(name)) {
				verifyFinished(name, type, bean);
				this.verified.put(name, type);
			}
		}

	}

}
