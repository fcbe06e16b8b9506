package io.fencing.fence.jdbc;

import java.util.Map;

import javax.sql.DataSource;

import jakarta.persistence.EntityManager;
import org.hibernate.engine.spi.SessionImplementor;
import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Looks at the persistence contexts bound to the current thread. The only class that
 * knows of JPA; without it on the classpath there is nothing to look at.
 */
final class PersistenceContexts {

	private static final boolean ORM_PRESENT = isPresent("org.springframework.orm.jpa.EntityManagerHolder");

	private static final boolean HIBERNATE_PRESENT = isPresent("org.hibernate.engine.spi.SessionImplementor");

	private static final String UNKNOWN = "a persistence context is bound whose provider cannot tell whether it is empty";

	private PersistenceContexts() {
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, PersistenceContexts.class.getClassLoader());
	}

	/**
	 * Tell what keeps an operation from starting with the persistence contexts that are
	 * bound.
	 * @param dataSource the data source of the fence
	 * @param inTransaction whether its connection is bound in a transaction
	 * @return the problem as a clause, {@code null} if there is none
	 */
	static @Nullable String findProblem(DataSource dataSource, boolean inTransaction) {
		return ORM_PRESENT ? Jpa.findProblem(dataSource, inTransaction) : null;
	}

	// spring-orm may be absent
	private static final class Jpa {

		static @Nullable String findProblem(DataSource dataSource, boolean inTransaction) {
			for (Map.Entry<Object, Object> bound : TransactionSynchronizationManager.getResourceMap().entrySet()) {
				if (bound.getValue() instanceof EntityManagerHolder holder && mayUse(bound.getKey(), dataSource)) {
					String problem = findProblem(holder, inTransaction);
					if (problem != null) {
						return problem;
					}
				}
			}
			return null;
		}

		private static boolean mayUse(Object factory, DataSource dataSource) {
			DataSource own = (factory instanceof EntityManagerFactoryInfo info) ? info.getDataSource() : null;
			return own == null || ManagedDataSources.unwrap(own) == dataSource;
		}

		private static @Nullable String findProblem(EntityManagerHolder holder, boolean inTransaction) {
			if (!inTransaction && holder.isSynchronizedWithTransaction()) {
				return "the JPA transaction around it exposes no JDBC connection";
			}
			EntityManager entityManager = holder.getEntityManager();
			return HIBERNATE_PRESENT ? Hibernate.findProblem(entityManager, inTransaction) : UNKNOWN;
		}

	}

	// Hibernate may be absent
	private static final class Hibernate {

		static @Nullable String findProblem(EntityManager entityManager, boolean inTransaction) {
			SessionImplementor session;
			try {
				session = entityManager.unwrap(SessionImplementor.class);
			}
			catch (RuntimeException ex) {
				return UNKNOWN;
			}
			if (session.getPersistenceContextInternal().getNumberOfManagedEntities() > 0) {
				return "the persistence context around it already manages entities, which may be older than the "
						+ "operation's lease";
			}
			boolean connected = session.getJdbcCoordinator().getLogicalConnection().isPhysicallyConnected();
			return (connected && !inTransaction)
					? "the persistence context around it keeps a connection outside of any transaction" : null;
		}

	}

}
