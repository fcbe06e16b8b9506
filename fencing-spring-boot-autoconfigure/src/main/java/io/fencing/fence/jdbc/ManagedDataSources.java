package io.fencing.fence.jdbc;

import javax.sql.DataSource;

import io.fencing.fence.jdbc.FencedDataSourcePostProcessor.Transparent;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.InfrastructureProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.hibernate.HibernateTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.ClassUtils;

/**
 * Finds the data source that a transaction manager binds connections for.
 */
public final class ManagedDataSources {

	private static final boolean ORM_PRESENT = ClassUtils.isPresent("org.springframework.orm.jpa.JpaTransactionManager",
			ManagedDataSources.class.getClassLoader());

	private ManagedDataSources() {
	}

	/**
	 * Find the data source of a transaction manager.
	 * @param manager a transaction manager, initialised
	 * @return the very object that connections are bound to, {@code null} if the manager
	 * drives none that is known
	 */
	public static @Nullable DataSource find(TransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return unwrap(dataSource);
		}
		DataSource dataSource = ORM_PRESENT ? Orm.find(manager) : null;
		return (dataSource != null) ? unwrap(dataSource) : null;
	}

	/**
	 * Whether the transactions of a manager are certainly those of a database.
	 * @param manager a transaction manager
	 * @return whether it should drive a data source
	 */
	public static boolean needsOne(TransactionManager manager) {
		return ORM_PRESENT && Orm.isPresent(manager);
	}

	/**
	 * What connections are bound to when a data source is used.
	 * @param dataSource a data source
	 * @return itself, or the target of a {@link TransactionAwareDataSourceProxy} or an
	 * {@link InfrastructureProxy}
	 */
	public static DataSource unwrap(DataSource dataSource) {
		Object target = null;
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy) {
			target = proxy.getTargetDataSource();
		}
		else if (dataSource instanceof InfrastructureProxy proxy) {
			// ours, without the way through its advice
			target = (proxy instanceof Transparent) ? AopProxyUtils.getSingletonTarget(proxy)
					: proxy.getWrappedObject();
		}
		return (target instanceof DataSource unwrapped) ? unwrap(unwrapped) : dataSource;
	}

	// spring-orm may be absent
	private static final class Orm {

		static boolean isPresent(TransactionManager manager) {
			return manager instanceof JpaTransactionManager || manager instanceof HibernateTransactionManager;
		}

		static @Nullable DataSource find(TransactionManager manager) {
			if (manager instanceof JpaTransactionManager jpa) {
				return jpa.getDataSource();
			}
			return (manager instanceof HibernateTransactionManager hibernate) ? hibernate.getDataSource() : null;
		}

	}

}
