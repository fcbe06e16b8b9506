package io.fencing.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFences;
import io.fencing.fence.jdbc.ManagedDataSources;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * The fenced storage that the journal lives in, and its transaction managers.
 * Thread-safe.
 */
final class JournalStorage {

	private static final String PROPERTY = "fencing.journal.storage";

	private final ListableBeanFactory beanFactory;

	private final Supplier<JdbcFence> fence;

	JournalStorage(ListableBeanFactory beanFactory, JdbcFences fences, @Nullable String name) {
		this.beanFactory = beanFactory;
		this.fence = SingletonSupplier.of(() -> find(fences.getFences(), name));
	}

	private JdbcFence find(Collection<JdbcFence> fences, @Nullable String name) {
		if (name == null && fences.size() == 1) {
			return fences.iterator().next();
		}
		List<String> storages = fences.stream().map(JdbcFence::getStorage).sorted().toList();
		if (name == null) {
			throw new InvalidFencedOperationException("An operation identity needs one fenced DataSource for the "
					+ "journal, but there are " + storages + "; name one in '" + PROPERTY + "'");
		}
		String bean = StorageNames
			.resolve(this.beanFactory, PROPERTY, Set.of(name),
					Set.of(this.beanFactory.getBeanNamesForType(DataSource.class, false, true)))
			.iterator()
			.next();
		DataSource dataSource = ManagedDataSources.unwrap(this.beanFactory.getBean(bean, DataSource.class));
		return fences.stream()
			.filter((one) -> one.getDataSource() == dataSource)
			.findFirst()
			.orElseThrow(() -> new InvalidFencedOperationException(
					"Property '" + PROPERTY + "' names '" + name + "', which has no fence; name one of " + storages));
	}

	JdbcFence fence() {
		return this.fence.get();
	}

	/**
	 * Find a transaction manager of the storage.
	 * @param name its bean name, {@code null} for the only one
	 * @return the manager
	 * @throws InvalidFencedOperationException if the journal cannot commit with it
	 */
	PlatformTransactionManager manager(@Nullable String name) {
		Set<String> managers = fence().getManagers();
		if (name == null && managers.size() == 1) {
			return this.beanFactory.getBean(managers.iterator().next(), PlatformTransactionManager.class);
		}
		if (name != null && managers.contains(name)) {
			return this.beanFactory.getBean(name, PlatformTransactionManager.class);
		}
		throw new InvalidFencedOperationException("The record of an operation commits with its work, in storage '"
				+ fence().getStorage() + "', whose transaction managers are " + managers + ", not "
				+ ((name != null) ? "'" + name + "'" : "a single one") + "; name one of these with @Transactional, or "
				+ "another storage in '" + PROPERTY + "'");
	}

}
