package io.fencing.aop;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.fencing.InvalidFencedOperationException;
import io.fencing.operation.OperationSettingsSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Refuses to start an application that has a fenced operation which would not be fenced.
 * The form of a method is looked at before its bean is proxied, annotations and advice
 * once all singletons are there. Beans that are created later are judged by their type,
 * without creating them.
 */
public final class FencedOperationVerifier implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(FencedOperationVerifier.class);

	private static final String SCOPED_TARGET = ScopedProxyUtils.getTargetBeanName("");

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<FencedOperationSource> source;

	private final Supplier<OperationSettingsSource> settings;

	private final AdvisedMethodRules advice;

	private final MethodFormRules form;

	// the beans with operations, and what they were before anything wrapped them
	private final Map<String, Class<?>> createdTypes = new ConcurrentHashMap<>();

	/**
	 * Create a verifier.
	 * @param beanFactory the beans to verify
	 * @param source finds what is annotated; asked for with the first bean
	 * @param settings finds the settings of operations; asked for when all singletons are
	 * there
	 * @param transactions knows the transactions of methods; asked for when all
	 * singletons are there
	 */
	public FencedOperationVerifier(ConfigurableListableBeanFactory beanFactory, Supplier<FencedOperationSource> source,
			Supplier<OperationSettingsSource> settings, Supplier<MethodTransactions> transactions) {
		this.beanFactory = beanFactory;
		this.source = SingletonSupplier.of(source);
		this.settings = settings;
		this.advice = new AdvisedMethodRules(beanFactory, SingletonSupplier.of(transactions));
		this.form = new MethodFormRules(new ProxyKind(beanFactory));
	}

	/**
	 * Looks at every bean from here on, also at those that are created too early to be
	 * proxied. A post-processor that is a bean would come too late for these.
	 */
	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		MergedBeanDefinitionPostProcessor created = this::verifyForm;
		beanFactory.addBeanPostProcessor(created);
	}

	private void verifyForm(RootBeanDefinition beanDefinition, Class<?> beanType, String beanName) {
		if (beanDefinition.getRole() != BeanDefinition.ROLE_INFRASTRUCTURE) {
			Collection<FencedMethod> methods = fencedMethods(beanType);
			if (!methods.isEmpty()) {
				this.createdTypes.put(beanName, beanType);
				verify(beanName, methods, (method) -> verifyForm(beanName, beanType, method));
			}
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<String> operations = new HashSet<>();
		for (String beanName : this.beanFactory.getBeanDefinitionNames()) {
			if (!this.beanFactory.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(beanName))) {
				Class<?> type = typeOf(beanName);
				if (type != null) {
					Collection<FencedMethod> methods = fencedMethods(type);
					methods.forEach((method) -> operations.add(method.operationName()));
					verify(beanName, type, methods);
				}
			}
		}
		this.settings.get().checkNames(operations);
	}

	private void verifyForm(String beanName, Class<?> type, FencedMethod method) {
		if (!Weaving.isWoven(method.method())) {
			this.form.verify(beanName, type, method);
		}
	}

	private void verify(String beanName, Class<?> type, Collection<FencedMethod> methods) {
		if (methods.isEmpty()) {
			return;
		}
		Object singleton = singleton(beanName);
		verify(beanName, methods, (method) -> {
			verifySettings(method, type);
			if (singleton == null) {
				verifyForm(beanName, type, method);
				if (!Weaving.isWoven(method.method())) {
					this.advice.verifyType(type, method);
				}
			}
			else if (!Weaving.isWoven(method.method())) {
				this.advice.verifyBean(beanName, singleton, method);
			}
		});
	}

	private void verifySettings(FencedMethod method, Class<?> type) {
		FencedOperationMetadata metadata = this.source.get().getMetadata(method.method(), type);
		if (metadata == null) {
			return;
		}
		try {
			this.settings.get().resolve(metadata.request().resource(metadata.name()).build());
		}
		catch (InvalidFencedOperationException ex) {
			throw new InvalidFencedOperationException("@FencedOperation method '" + method + "', " + ex.getMessage(),
					ex);
		}
	}

	private void verify(String beanName, Collection<FencedMethod> methods, Rule rule) {
		for (FencedMethod method : methods) {
			try {
				rule.verify(method);
			}
			catch (InvalidFencedOperationException ex) {
				throw new InvalidFencedOperationException("Bean '" + userName(beanName) + "', " + ex.getMessage(),
						ex.getCause());
			}
		}
	}

	private Collection<FencedMethod> fencedMethods(Class<?> type) {
		if (!this.source.get().isCandidate(type)) {
			return List.of();
		}
		Class<?> userClass = ClassUtils.getUserClass(type);
		try {
			return MethodIntrospector.selectMethods(userClass, fencedMethodOf(userClass)).values();
		}
		catch (IllegalStateException | LinkageError ex) {
			logger.debug("Type '{}' uses types that are absent; it cannot become a bean here", type.getName(), ex);
			return List.of();
		}
	}

	private MethodIntrospector.MetadataLookup<FencedMethod> fencedMethodOf(Class<?> userClass) {
		FencedOperationSource source = this.source.get();
		return (method) -> source.isFenced(method, userClass) ? source.getFencedMethod(method, userClass) : null;
	}

	private @Nullable Class<?> typeOf(String beanName) {
		Class<?> created = this.createdTypes.get(beanName);
		if (created != null) {
			return created;
		}
		// one without a record was registered by hand and is never proxied: a test's mock
		return (singleton(beanName) != null) ? null : declaredType(beanName);
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

	private static String userName(String beanName) {
		return beanName.startsWith(SCOPED_TARGET) ? beanName.substring(SCOPED_TARGET.length()) : beanName;
	}

	/**
	 * A rule that a fenced method has to keep.
	 */
	@FunctionalInterface
	private interface Rule {

		void verify(FencedMethod method);

	}

}
