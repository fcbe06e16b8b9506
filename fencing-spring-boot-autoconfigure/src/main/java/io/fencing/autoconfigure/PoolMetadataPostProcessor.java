package io.fencing.autoconfigure;

import io.fencing.fence.jdbc.ManagedDataSources;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;

/**
 * Lets what tells about pools look at the pool itself: it reads a field, which is empty
 * in the class proxy of a DataSource bean.
 */
final class PoolMetadataPostProcessor implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSourcePoolMetadataProvider provider) ? unwrapping(provider) : bean;
	}

	private static DataSourcePoolMetadataProvider unwrapping(DataSourcePoolMetadataProvider provider) {
		return (dataSource) -> provider.getDataSourcePoolMetadata(ManagedDataSources.unwrap(dataSource));
	}

}
