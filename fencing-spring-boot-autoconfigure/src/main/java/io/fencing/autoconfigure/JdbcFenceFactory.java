package io.fencing.autoconfigure;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.JdbcFence;
import io.fencing.fence.jdbc.JdbcFenceSettings;
import io.fencing.fence.jdbc.ManagedDataSources;
import io.fencing.jdbc.TableName;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.Assert;

/**
 * Makes a fence for each DataSource that has a transaction manager or is named; others, a
 * reporting replica for instance, are not claimed.
 */
final class JdbcFenceFactory {

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
		Map<String, DataSource> beans = this.beanFactory.getBeansOfType(DataSource.class, false, true);
		IdentityHashMap<DataSource, String> storages = new IdentityHashMap<>();
		for (PlatformTransactionManager manager : this.beanFactory
			.getBeansOfType(PlatformTransactionManager.class, false, true)
			.values()) {
			DataSource dataSource = ManagedDataSources.find(manager);
			if (dataSource != null) {
				storages.put(dataSource, name(beans, dataSource));
			}
		}
		for (String name : this.jdbcProperties.getStorages()) {
			DataSource dataSource = beans.get(name);
			if (dataSource == null) {
				throw new InvalidFencedOperationException("Property 'fencing.jdbc.storages' names '" + name
						+ "', but the DataSource beans are " + beans.keySet() + "; name some of these");
			}
			storages.put(ManagedDataSources.unwrap(dataSource), name);
		}
		JdbcFenceSettings settings = settings();
		List<JdbcFence> fences = new ArrayList<>();
		storages.forEach((dataSource, name) -> fences
			.add(new JdbcFence((storages.size() > 1) ? name : null, dataSource, settings, this.listeners)));
		return fences;
	}

	private static String name(Map<String, DataSource> beans, DataSource dataSource) {
		for (Map.Entry<String, DataSource> bean : beans.entrySet()) {
			if (ManagedDataSources.unwrap(bean.getValue()) == dataSource) {
				return bean.getKey();
			}
		}
		return "dataSource";
	}

	private JdbcFenceSettings settings() {
		Set<String> writingFunctions = new HashSet<>(JdbcFenceSettings.DEFAULT_WRITING_FUNCTIONS);
		writingFunctions.addAll(this.jdbcProperties.getWritingFunctions());
		return new JdbcFenceSettings(table(this.jdbcProperties.getTable()), this.jdbcProperties.getDialect(),
				this.jdbcProperties.getAdmissionTimeout(), this.jdbcProperties.getRetention(),
				this.properties.joinedTransactions(), getUnfencedWrites(), writingFunctions,
				this.jdbcProperties.getUnfencedStatements());
	}

	/**
	 * What happens to writes outside of operations; what is only observed must not fail.
	 * @return what happens to them
	 */
	UnfencedWrites getUnfencedWrites() {
		return this.properties.effectiveUnfencedWrites();
	}

	private static TableName table(String name) {
		Assert.hasText(name, "'fencing.jdbc.table' must not be blank");
		int dot = name.indexOf('.');
		String schema = (dot > 0) ? name.substring(0, dot) : null;
		return new TableName(schema, name.substring(dot + 1));
	}

}
