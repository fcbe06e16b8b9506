package io.fencing.autoconfigure;

import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFence;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.PermissionDeniedDataAccessException;
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
				prepare(fence);
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

	// a replica gets its table from the writer, whichever comes first here
	private void prepare(JdbcFence fence) {
		Map<DataSource, RuntimeException> failures = new IdentityHashMap<>();
		for (DataSource target : fence.getTargets()) {
			RuntimeException failure = create(target);
			if (failure != null) {
				failures.put(target, failure);
			}
		}
		DataAccessException unusable = null;
		boolean usable = false;
		for (DataSource target : fence.getTargets()) {
			try {
				verify(fence, target, failures.get(target));
				usable = true;
			}
			catch (DataAccessException ex) {
				unusable = isReadOnly(unusable) ? ex : unusable;
			}
		}
		if (unusable != null) {
			if (!isReadOnly(unusable) || (!usable && !fence.getManagers().isEmpty())) {
				throw unusable;
			}
			logger.info("Storage '{}' leads to a replica, which can only be read; operations read there what shows "
					+ "their claim", fence.getStorage());
		}
	}

	private static boolean isReadOnly(@Nullable DataAccessException ex) {
		return ex == null || ex instanceof PermissionDeniedDataAccessException;
	}

	// a script may fail although the table is there: without the right to create, or when
	// another node creates it in the same moment
	private void verify(JdbcFence fence, DataSource target, @Nullable RuntimeException failure) {
		try {
			fence.verify(target);
		}
		catch (InvalidFencedOperationException ex) {
			throw (failure != null)
					? new InvalidFencedOperationException(describe(failure) + ", and " + ex.getMessage(), failure) : ex;
		}
		if (failure != null) {
			logger.warn("{}; the table is there and can be used", describe(failure));
		}
	}

	// a database that is down is found by the connection; the initializer would miss its
	// platform
	private @Nullable RuntimeException create(DataSource target) {
		try {
			DataSourceUtils.releaseConnection(DataSourceUtils.getConnection(target), target);
			new PropertiesBasedDataSourceScriptDatabaseInitializer<>(target, this.properties).initializeDatabase();
			return null;
		}
		catch (IllegalStateException | DataAccessException ex) {
			return ex;
		}
	}

	private static String describe(RuntimeException failure) {
		String message = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
		return "The script of the fence table, by 'fencing.jdbc.schema' and 'fencing.jdbc.platform', failed with '"
				+ message.lines().findFirst().orElse("") + "'";
	}

}
