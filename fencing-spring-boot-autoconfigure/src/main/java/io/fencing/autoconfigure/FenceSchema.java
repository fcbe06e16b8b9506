package io.fencing.autoconfigure;

import java.util.Collection;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFence;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DataSourceUtils;

/**
 * Creates the fence tables where that is wanted, and looks at start whether they are
 * there. Runs when every singleton is there, after Flyway and Liquibase.
 */
final class FenceSchema implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(FenceSchema.class);

	private final Supplier<? extends Collection<JdbcFence>> fences;

	private final FencingJdbcProperties properties;

	private final boolean enforced;

	FenceSchema(Supplier<? extends Collection<JdbcFence>> fences, FencingJdbcProperties properties, boolean enforced) {
		this.fences = fences;
		this.properties = properties;
		this.enforced = enforced;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (JdbcFence fence : this.fences.get()) {
			try {
				for (DataSource target : fence.getTargets()) {
					connect(target);
					new PropertiesBasedDataSourceScriptDatabaseInitializer<>(target, this.properties)
						.initializeDatabase();
					fence.verify(target);
				}
				logger.info("Fence of storage '{}' is ready", fence.getStorage());
			}
			catch (InvalidFencedOperationException ex) {
				if (this.enforced) {
					throw ex;
				}
				logger.warn("The fence of storage '{}' cannot be used; operations are not observed there",
						fence.getStorage(), ex);
			}
			catch (DataAccessException ex) {
				logger.warn("The fence of storage '{}' could not be looked at; operations that claim it fail until "
						+ "its database can be reached", fence.getStorage(), ex);
			}
		}
	}

	// a database that is down is told as such here; the initializer would miss its
	// platform
	private static void connect(DataSource dataSource) {
		DataSourceUtils.releaseConnection(DataSourceUtils.getConnection(dataSource), dataSource);
	}

}
