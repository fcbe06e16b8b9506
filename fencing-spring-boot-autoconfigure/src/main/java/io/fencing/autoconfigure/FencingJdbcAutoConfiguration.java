package io.fencing.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.autoconfigure.BackgroundSchedule.Task;
import io.fencing.fence.FencingMode;
import io.fencing.fence.jdbc.FencedDataSourcePostProcessor;
import io.fencing.fence.jdbc.FencedTemplatePostProcessor;
import io.fencing.fence.jdbc.HoldingTransactionPostProcessor;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFences;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Auto-configuration of the fences in relational databases.
 */
@AutoConfiguration(after = FencingAutoConfiguration.class,
		afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
				"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
				"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration" })
@ConditionalOnClass({ JdbcTemplate.class, PlatformTransactionManager.class, DatabaseInitializationProperties.class })
@ConditionalOnBean(DataSource.class)
@ConditionalOnBooleanProperty(name = "fencing.enabled", matchIfMissing = true)
@EnableConfigurationProperties(FencingJdbcProperties.class)
public final class FencingJdbcAutoConfiguration {

	@Bean
	StorageRetention fencingJdbcRetention(FencingJdbcProperties jdbcProperties) {
		return new StorageRetention(jdbcProperties.getRetention());
	}

	@Bean
	JdbcFences jdbcFences(ListableBeanFactory beanFactory, FencingProperties properties,
			FencingJdbcProperties jdbcProperties, FencingListeners listeners) {
		JdbcFenceFactory factory = new JdbcFenceFactory(beanFactory, properties, jdbcProperties, listeners);
		return new JdbcFences(factory.settings(), listeners, factory::create, factory::getExcluded);
	}

	@Bean
	@Lazy(false)
	@DependsOnDatabaseInitialization
	FenceSchema fenceSchema(JdbcFences fences, FencingProperties properties, FencingJdbcProperties jdbcProperties) {
		return new FenceSchema(usedFences(fences, properties), jdbcProperties,
				properties.mode() == FencingMode.ENFORCE);
	}

	@Bean
	BackgroundSchedule fenceCleanupSchedule(JdbcFences fences, FencingProperties properties,
			FencingJdbcProperties jdbcProperties) {
		Supplier<Collection<JdbcFence>> used = usedFences(fences, properties);
		return new BackgroundSchedule("fencing-cleanup-", () -> used.get()
			.stream()
			.map((fence) -> new Task("Removal of expired rows of the fence of storage '" + fence.getStorage() + "'",
					fence::removeExpired))
			.toList(), "fencing.jdbc.cleanup-interval", jdbcProperties.getCleanupInterval());
	}

	private static Supplier<Collection<JdbcFence>> usedFences(JdbcFences fences, FencingProperties properties) {
		return (properties.mode() != FencingMode.OFF) ? fences::getFences : List::of;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static HoldingTransactionPostProcessor holdingTransactionPostProcessor(ObjectProvider<JdbcFences> fences) {
		return new HoldingTransactionPostProcessor(fences::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedDataSourcePostProcessor fencedDataSourcePostProcessor(ObjectProvider<JdbcFences> fences) {
		return new FencedDataSourcePostProcessor(fences::getObject);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedTemplatePostProcessor fencedTemplatePostProcessor(ObjectProvider<JdbcFences> fences) {
		return new FencedTemplatePostProcessor(fences::getObject);
	}

	/**
	 * What reads the fields of a pool must read those behind the proxy of its bean.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataSourcePoolMetadataProvider.class)
	static class PoolMetadataConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static PoolMetadataPostProcessor fencedPoolMetadataPostProcessor() {
			return new PoolMetadataPostProcessor();
		}

	}

}
