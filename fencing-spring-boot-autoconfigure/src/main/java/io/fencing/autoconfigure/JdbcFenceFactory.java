package io.fencing.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFenceSettings;
import io.fencing.fence.jdbc.ManagedDataSources;
import io.fencing.jdbc.DatabaseDialect;
import io.fencing.jdbc.DatabaseDialects;
import io.fencing.jdbc.TableName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Makes a fence for each DataSource that has a transaction manager or is named, and is
 * not excluded; others, a reporting replica for instance, are not claimed.
 */
final class JdbcFenceFactory {

	private static final String NAMED = "fencing.jdbc.storages";

	private static final Logger logger = LoggerFactory.getLogger(JdbcFenceFactory.class);

	private final ListableBeanFactory beanFactory;

	private final FencingProperties properties;

	private final FencingJdbcProperties jdbcProperties;

	private final FencingListeners listeners;

	JdbcFenceFactory(ListableBeanFactory beanFactory, FencingProperties properties,
			FencingJdbcProperties jdbcProperties, FencingListeners listeners) {
		FencingProperties.checkRetention("fencing.jdbc.retention", jdbcProperties.getRetention(),
				properties.lease().maxHold());
		this.beanFactory = beanFactory;
		this.properties = properties;
		this.jdbcProperties = jdbcProperties;
		this.listeners = listeners;
	}

	List<JdbcFence> create() {
		List<Storage> storages = storages();
		JdbcFenceSettings settings = settings();
		return storages.stream()
			.map((storage) -> new JdbcFence((storages.size() > 1) ? storage.name : null, storage.dataSource, settings,
					this.listeners, storage.managers))
			.toList();
	}

	/**
	 * The DataSources that the application wants no fence for.
	 * @return what transactions on them are bound to
	 */
	Collection<DataSource> getExcluded() {
		Map<String, DataSource> beans = dataSources();
		return excluded().stream().filter(beans::containsKey).map(beans::get).map(ManagedDataSources::unwrap).toList();
	}

	private Set<String> excluded() {
		return StorageNames.resolve(this.beanFactory, UnsupportedStorages.EXCLUDED,
				this.jdbcProperties.getExcludedStorages(), UnsupportedStorages.excludable(this.beanFactory));
	}

	private List<Storage> storages() {
		Map<String, DataSource> beans = dataSources();
		Set<String> excluded = excluded();
		List<Storage> storages = new ArrayList<>();
		this.beanFactory.getBeansOfType(PlatformTransactionManager.class, false, true).forEach((name, manager) -> {
			DataSource dataSource = ManagedDataSources.find(manager);
			if (dataSource != null) {
				storage(storages, dataSource, name(beans, dataSource, name)).managers.add(name);
			}
			else if (ManagedDataSources.needsOne(manager)) {
				logger.warn("Transactions of bean '{}' go by no fence, since it does not tell its DataSource; "
						+ "give its EntityManagerFactory a DataSource that is a bean", name);
			}
		});
		Set<String> named = StorageNames.resolve(this.beanFactory, NAMED, this.jdbcProperties.getStorages(),
				beans.keySet());
		named.stream().filter(excluded::contains).findFirst().ifPresent((name) -> {
			throw new InvalidFencedOperationException("DataSource '" + name + "' is named in '" + NAMED + "' and in '"
					+ UnsupportedStorages.EXCLUDED + "'; leave it in one of them");
		});
		beans.forEach((name, dataSource) -> {
			if (named.contains(name)) {
				storage(storages, ManagedDataSources.unwrap(dataSource), name);
			}
		});
		Collection<DataSource> unwanted = getExcluded();
		storages.removeIf((storage) -> unwanted.stream().anyMatch((one) -> one == storage.dataSource));
		return storages;
	}

	private static Storage storage(List<Storage> storages, DataSource dataSource, String name) {
		return storages.stream().filter((storage) -> storage.dataSource == dataSource).findFirst().orElseGet(() -> {
			Storage storage = new Storage(name, dataSource, new LinkedHashSet<>());
			storages.add(storage);
			return storage;
		});
	}

	// one that is no bean is named after its transaction manager
	private static String name(Map<String, DataSource> beans, DataSource dataSource, String manager) {
		return beans.entrySet()
			.stream()
			.filter((bean) -> ManagedDataSources.unwrap(bean.getValue()) == dataSource)
			.map(Map.Entry::getKey)
			.findFirst()
			.orElse(manager);
	}

	private Map<String, DataSource> dataSources() {
		return this.beanFactory.getBeansOfType(DataSource.class, false, true);
	}

	/**
	 * How the fences work. What is only observed must not fail.
	 * @return the settings of all of them
	 */
	JdbcFenceSettings settings() {
		Set<String> writingFunctions = new HashSet<>(JdbcFenceSettings.DEFAULT_WRITING_FUNCTIONS);
		writingFunctions.addAll(this.jdbcProperties.getWritingFunctions());
		return new JdbcFenceSettings(table("fencing.jdbc.table", this.jdbcProperties.getTable()), dialects(),
				this.jdbcProperties.getAdmissionTimeout(), this.jdbcProperties.getRetention(),
				this.properties.joinedTransactions(), this.properties.effectiveUnfencedWrites(), writingFunctions,
				this.jdbcProperties.getUnfencedStatements());
	}

	private DatabaseDialects dialects() {
		List<DatabaseDialect> own = this.beanFactory.getBeanProvider(DatabaseDialect.class).orderedStream().toList();
		return DatabaseDialects.of(own).choose(this.jdbcProperties.getDialect());
	}

	static TableName table(String property, String name) {
		int dot = name.indexOf('.');
		String schema = (dot >= 0) ? name.substring(0, dot) : null;
		try {
			return new TableName(schema, name.substring(dot + 1));
		}
		catch (InvalidFencedOperationException ex) {
			throw new InvalidFencedOperationException("'" + property + "' is '" + name
					+ "'; it must be the name of a table, with a schema and a dot in front if it needs one, of letters, "
					+ "digits and underscores only", ex);
		}
	}

	/**
	 * A storage.
	 *
	 * @param name its name, that of its DataSource bean
	 * @param dataSource what transactions on it are bound to
	 * @param managers the bean names of its transaction managers
	 */
	private record Storage(String name, DataSource dataSource, Set<String> managers) {
	}

}
