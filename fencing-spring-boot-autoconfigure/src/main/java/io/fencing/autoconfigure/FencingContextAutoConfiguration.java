package io.fencing.autoconfigure;

import io.fencing.context.FencingContextAccessor;
import io.fencing.context.FencingTaskDecorator;
import io.micrometer.context.ContextRegistry;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of what carries the context of operations to other threads. Nothing
 * does unless asked.
 */
@AutoConfiguration(beforeName = "org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration")
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
public final class FencingContextAutoConfiguration {

	private static final String PROPERTY = "fencing.context.propagation";

	@Bean
	@ConditionalOnProperty(name = PROPERTY, havingValue = "tasks")
	FencingTaskDecorator fencingTaskDecorator() {
		return new FencingTaskDecorator();
	}

	/**
	 * With Micrometer's context propagation.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ContextRegistry.class)
	@ConditionalOnProperty(name = PROPERTY, havingValue = "micrometer")
	static class MicrometerConfiguration {

		@Bean
		FencingContextAccessor fencingContextAccessor() {
			FencingContextAccessor accessor = new FencingContextAccessor();
			ContextRegistry.getInstance().registerThreadLocalAccessor(accessor);
			return accessor;
		}

		// the registry outlives the application
		@Bean
		DisposableBean fencingContextAccessorRemoval() {
			return () -> ContextRegistry.getInstance().removeThreadLocalAccessor(FencingContextAccessor.KEY);
		}

	}

}
