package io.fencing.autoconfigure;

import io.fencing.FencedOperations;
import io.fencing.aop.AttributeMethodTransactions;
import io.fencing.aop.FencedMethodCaller;
import io.fencing.aop.FencedOperationAdvisor;
import io.fencing.aop.FencedOperationSource;
import io.fencing.aop.FencedOperationVerifier;
import io.fencing.aop.MethodTransactions;
import io.fencing.operation.OperationSettingsSource;

import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/**
 * Auto-configuration of the advice around annotated methods, and of what is verified
 * about them at start.
 */
@AutoConfiguration(after = FencingAutoConfiguration.class,
		afterName = { "org.springframework.boot.autoconfigure.aop.AopAutoConfiguration",
				"io.fencing.autoconfigure.FencingJournalAutoConfiguration" })
@ConditionalOnClass(AbstractAdvisorAutoProxyCreator.class)
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
public final class FencingAopAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationSource fencedOperationSource(ConfigurableListableBeanFactory beanFactory) {
		return new FencedOperationSource(beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationAdvisor fencedOperationAdvisor(FencedOperationSource source,
			ObjectProvider<FencedOperations> operations, ObjectProvider<MethodTransactions> transactions,
			ObjectProvider<OperationSettingsSource> settings, Environment environment) {
		FencedMethodCaller caller = new FencedMethodCaller(source, operations::getObject,
				() -> transactions.getIfAvailable(() -> MethodTransactions.NONE),
				(operation, identified) -> settings.getObject().isEnforced(operation, identified));
		// read here, since binding all properties this early would create their bean
		// early
		int order = environment.getProperty("fencing.aspect.order", Integer.class,
				FencingProperties.Aspect.DEFAULT_ORDER);
		return new FencedOperationAdvisor(source, caller, order);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationVerifier fencedOperationVerifier(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<FencedOperationSource> source, ObjectProvider<OperationSettingsSource> settings,
			ObjectProvider<MethodTransactions> transactions) {
		return new FencedOperationVerifier(beanFactory, source::getObject, settings::getObject,
				() -> transactions.getIfAvailable(() -> MethodTransactions.NONE));
	}

	/**
	 * With spring-tx, methods say something about transactions.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(TransactionAttributeSource.class)
	static class TransactionsConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static AttributeMethodTransactions fencedMethodTransactions(ObjectProvider<TransactionAttributeSource> sources,
				ConfigurableListableBeanFactory beanFactory) {
			return new AttributeMethodTransactions(sources, beanFactory);
		}

	}

}
