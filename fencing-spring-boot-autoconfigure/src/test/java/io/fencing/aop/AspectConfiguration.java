package io.fencing.aop;

import java.time.Duration;
import java.util.Map;

import io.fencing.FencedOperations;
import io.fencing.OnBusy;
import io.fencing.fence.FencingMode;
import io.fencing.operation.OperationSettings;
import io.fencing.operation.OperationSettingsSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.transaction.interceptor.TransactionAttributeSource;

/**
 * The beans of this package, declared as the starter declares them.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class AspectConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationSource fencedOperationSource(ConfigurableListableBeanFactory beanFactory) {
		return new FencedOperationSource(beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationAdvisor fencedOperationAdvisor(FencedOperationSource source,
			ObjectProvider<FencedOperations> operations, ObjectProvider<MethodTransactions> transactions,
			Environment environment) {
		return new FencedOperationAdvisor(source, new FencedMethodCaller(source, operations::getObject,
				() -> transactions.getIfAvailable(() -> MethodTransactions.NONE), (operation, identified) -> true),
				environment.getProperty("fencing.aspect.order", Integer.class, Integer.MAX_VALUE - 1));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedOperationVerifier fencedOperationVerifier(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<FencedOperationSource> source, ObjectProvider<OperationSettingsSource> settings,
			ObjectProvider<MethodTransactions> transactions) {
		return new FencedOperationVerifier(beanFactory, source::getObject, settings::getObject,
				() -> transactions.getIfAvailable(() -> MethodTransactions.NONE));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static MethodTransactions methodTransactions(ObjectProvider<TransactionAttributeSource> sources,
			ConfigurableListableBeanFactory beanFactory) {
		return new AttributeMethodTransactions(sources, beanFactory);
	}

	@Bean
	OperationSettingsSource operationSettings() {
		OperationSettings defaults = new OperationSettings(FencingMode.ENFORCE, Duration.ofSeconds(30), Duration.ZERO,
				Duration.ZERO, Duration.ofMinutes(15), Duration.ZERO, true, OnBusy.FAIL);
		return new OperationSettingsSource(defaults, Map.of(), Duration.ofDays(7));
	}

	@Bean
	RecordingOperations fencedOperations() {
		return new RecordingOperations();
	}

}
