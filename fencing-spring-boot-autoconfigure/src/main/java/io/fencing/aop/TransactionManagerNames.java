package io.fencing.aop;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.util.StringUtils;

/**
 * Tells which transaction manager Spring takes for a method, by the bean's name: the one
 * that the attribute names, else the one that a qualifier of the class names, else the
 * default one. Thread-safe.
 */
final class TransactionManagerNames {

	private static final String DEFAULT = "";

	private final ConfigurableListableBeanFactory beanFactory;

	private final Map<String, Optional<String>> found = new ConcurrentHashMap<>();

	TransactionManagerNames(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Find the manager of a method.
	 * @param qualifier what its attribute names, if anything
	 * @param targetClass the class that it is called on
	 * @return the bean name of the manager, {@code null} if it cannot be told
	 */
	@Nullable String find(@Nullable String qualifier, Class<?> targetClass) {
		if (StringUtils.hasText(qualifier)) {
			return findCached(qualifier).orElse(null);
		}
		String ofClass = BeanFactoryAnnotationUtils.getQualifierValue(targetClass);
		if (StringUtils.hasText(ofClass) && !candidates(ofClass).isEmpty()) {
			return findCached(ofClass).orElse(null);
		}
		return findCached(DEFAULT).orElse(null);
	}

	private Optional<String> findCached(String qualifier) {
		Optional<String> manager = this.found.get(qualifier);
		if (manager == null) {
			manager = Optional.ofNullable(qualifier.equals(DEFAULT) ? findDefault() : findQualified(qualifier));
			this.found.put(qualifier, manager);
		}
		return manager;
	}

	private @Nullable String findQualified(String qualifier) {
		List<String> candidates = candidates(qualifier);
		return (candidates.size() == 1) ? candidates.get(0) : null;
	}

	private List<String> candidates(String qualifier) {
		return Arrays.stream(managers())
			.filter((name) -> BeanFactoryAnnotationUtils.isQualifierMatch(qualifier::equals, name, this.beanFactory))
			.toList();
	}

	private @Nullable String findDefault() {
		if (hasConfiguredDefault()) {
			return null;
		}
		try {
			return this.beanFactory.resolveNamedBean(TransactionManager.class).getBeanName();
		}
		catch (BeansException ex) {
			return null;
		}
	}

	// set on the interceptor, by a TransactionManagementConfigurer or in XML
	private boolean hasConfiguredDefault() {
		return managers().length > 1 && Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
					TransactionAspectSupport.class, true, false))
			.anyMatch((name) -> isConfigured(name));
	}

	private boolean isConfigured(String interceptor) {
		return this.beanFactory.getBean(interceptor, TransactionAspectSupport.class).getTransactionManager() != null
				|| this.beanFactory.getMergedBeanDefinition(interceptor)
					.getPropertyValues()
					.contains("transactionManagerBeanName");
	}

	private String[] managers() {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory, TransactionManager.class, true,
				false);
	}

}
