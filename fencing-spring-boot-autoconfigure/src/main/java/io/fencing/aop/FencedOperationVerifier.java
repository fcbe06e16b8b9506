package io.fencing.aop;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

import io.fencing.operation.OperationSettingsSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryInitializer;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.PriorityOrdered;

/**
 * Refuses to start an application that has a fenced operation which would not be fenced.
 * The form of a method is looked at before its bean is proxied, annotations and advice
 * once all singletons are there. Beans that are created later are judged by their type at
 * first, without creating them, and once more when they are created: only then is the
 * class known of what a factory or a prototype makes.
 */
public final class FencedOperationVerifier implements BeanDefinitionRegistryPostProcessor, PriorityOrdered,
		BeanFactoryInitializer<ConfigurableListableBeanFactory>, SmartInitializingSingleton,
		ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(FencedOperationVerifier.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<OperationSettingsSource> settings;

	private final Function<ConfigurableListableBeanFactory, FencedOperationVerifier> others;

	private final FencedBeanRules rules;

	private final CreatedBeans created;

	/**
	 * Create a verifier.
	 * @param beanFactory the beans to verify
	 * @param source finds what is annotated; asked for with the first bean
	 * @param settings finds the settings of operations; asked for when all
	 * post-processors are there
	 * @param transactions knows the transactions of methods; asked for when all
	 * post-processors are there
	 */
	public FencedOperationVerifier(ConfigurableListableBeanFactory beanFactory, Supplier<FencedOperationSource> source,
			Supplier<OperationSettingsSource> settings, Supplier<MethodTransactions> transactions) {
		this.beanFactory = beanFactory;
		this.settings = settings;
		this.rules = new FencedBeanRules(beanFactory, source, settings, transactions);
		this.created = new CreatedBeans(beanFactory, this.rules);
		this.others = (other) -> new FencedOperationVerifier(other, source, settings, transactions);
	}

	/**
	 * Looks at every bean from here on, also at those that are created too early to be
	 * proxied. A post-processor of beans that is a bean would come too late for these,
	 * and one of the factory too late for what others of its kind need.
	 */
	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		this.created.seeUnproxied();
	}

	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	/**
	 * Looks at every bean from here on as it has become after all post-processors.
	 */
	@Override
	public void initialize(ConfigurableListableBeanFactory beanFactory) {
		this.created.seeFinished();
	}

	/**
	 * Looks at all beans, also at those of parent contexts that have no fencing of their
	 * own.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.created.setStarted();
		Set<String> names = verifyAll(true);
		BeanFactory parent = this.beanFactory.getParentBeanFactory();
		while (parent instanceof ConfigurableListableBeanFactory other) {
			names.addAll(verifyOther(other));
			parent = other.getParentBeanFactory();
		}
		this.settings.get().checkNames(names);
	}

	/**
	 * Looks at the beans of a child context that has no fencing of its own.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext()
			.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory other) {
			verifyOther(other);
		}
	}

	private Set<String> verifyOther(ConfigurableListableBeanFactory other) {
		boolean verified = other.getBeanNamesForType(FencedOperationVerifier.class, false, false).length > 0;
		FencedOperationVerifier verifier = this.others.apply(other);
		return verified ? verifier.names() : verifier.verifyAll(false);
	}

	private Set<String> names() {
		Set<String> names = new HashSet<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = isScopedProxy(beanName) ? null : typeOf(beanName, false);
			if (type != null) {
				this.rules.operations(type).forEach((method) -> names.add(method.operationName()));
			}
		}
		return names;
	}

	private Set<String> verifyAll(boolean seenCreated) {
		Set<String> names = new HashSet<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = isScopedProxy(beanName) ? null : typeOf(beanName, seenCreated);
			if (type != null) {
				this.rules.operations(type).forEach((method) -> names.add(method.operationName()));
				verify(beanName, type);
			}
		}
		for (String beanName : this.beanFactory.getSingletonNames()) {
			Object singleton = singleton(beanName);
			if (singleton != null && !this.beanFactory.containsBeanDefinition(beanName)
					&& this.created.typeOf(beanName) == null) {
				this.rules.verifyRegistered(beanName, singleton);
			}
		}
		return names;
	}

	private void verify(String beanName, Class<?> type) {
		Object singleton = singleton(beanName);
		if (singleton != null) {
			this.created.verifyFinished(beanName, type, singleton);
		}
		else {
			this.rules.verifyType(beanName, type);
		}
	}

	private @Nullable Class<?> typeOf(String beanName, boolean seenCreated) {
		Class<?> createdType = this.created.typeOf(beanName);
		if (createdType != null) {
			return createdType;
		}
		Object singleton = singleton(beanName);
		if (singleton == null) {
			return declaredType(beanName);
		}
		// one whose creation was not seen was put in the place of a bean: a test's mock
		return seenCreated ? null : AopProxyUtils.ultimateTargetClass(singleton);
	}

	private @Nullable Class<?> declaredType(String beanName) {
		try {
			return this.beanFactory.getType(beanName, false);
		}
		catch (BeansException | LinkageError ex) {
			logger.debug("Bean '{}' has a type that cannot be told before it is created", beanName, ex);
			return null;
		}
	}

	private @Nullable Object singleton(String beanName) {
		Object singleton = this.beanFactory.getSingleton(beanName);
		return (singleton instanceof FactoryBean) ? null : singleton;
	}

	private boolean isScopedProxy(String beanName) {
		return this.beanFactory.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(beanName));
	}

}
