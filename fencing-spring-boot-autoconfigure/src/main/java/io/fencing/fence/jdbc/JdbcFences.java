package io.fencing.fence.jdbc;

import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.FencingListeners;
import io.fencing.context.OperationContext;
import io.fencing.fence.FenceSource;
import io.fencing.fence.UnfencedWrites;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * All JDBC fences of an application, found by data source. The fences are made at first
 * use, when every bean is there. Thread-safe.
 */
public final class JdbcFences implements FenceSource {

	private final JdbcFenceSettings settings;

	private final FencingListeners listeners;

	private final Supplier<? extends Collection<JdbcFence>> fences;

	private final Supplier<? extends Collection<DataSource>> excluded;

	/**
	 * Create the registry.
	 * @param settings the settings of all fences
	 * @param listeners told of writes to what has no fence
	 * @param fences makes the fences, one for each data source; called once
	 * @param excluded the data sources that the application wants no fence for; called
	 * once
	 */
	public JdbcFences(JdbcFenceSettings settings, FencingListeners listeners,
			Supplier<? extends Collection<JdbcFence>> fences, Supplier<? extends Collection<DataSource>> excluded) {
		this.settings = settings;
		this.listeners = listeners;
		this.fences = SingletonSupplier.of(() -> List.copyOf(fences.get()));
		this.excluded = SingletonSupplier.of(() -> List.copyOf(excluded.get()));
	}

	@Override
	public Collection<JdbcFence> getFences() {
		return this.fences.get();
	}

	JdbcFenceSettings getSettings() {
		return this.settings;
	}

	FencingListeners getListeners() {
		return this.listeners;
	}

	/**
	 * Find the fence of a data source that transactions are bound to.
	 * @param dataSource the data source, or a Spring proxy in front of it
	 * @return the fence, {@code null} if the data source is not fenced
	 */
	@Nullable JdbcFence find(@Nullable DataSource dataSource) {
		return find(dataSource, (candidate) -> find((fence) -> fence.getDataSource() == candidate));
	}

	/**
	 * Find the fence that a statement must go by. That of a transaction manager may be
	 * given a proxy, the template what is behind it, or the reverse.
	 * @param dataSource the data source of a template
	 * @return the fence, {@code null} if what it leads to is not fenced
	 */
	@Nullable JdbcFence findForStatement(DataSource dataSource) {
		JdbcFence exact = find(dataSource);
		return (exact != null || isExcluded(dataSource)) ? exact
				: find((fence) -> wraps(fence.getDataSource(), dataSource) || wraps(dataSource, fence.getDataSource()));
	}

	/**
	 * Whether no statement needs a look now. Makes no fences where none is needed, as for
	 * statements while the application starts.
	 * @return whether all may pass
	 */
	boolean passEverything() {
		return this.settings.unfencedWrites() == UnfencedWrites.ALLOW && OperationContext.get() == null;
	}

	/**
	 * Whether the application wants no fence for a data source.
	 * @param dataSource the data source, or a Spring proxy in front of it
	 * @return whether it was excluded
	 */
	boolean isExcluded(DataSource dataSource) {
		Collection<DataSource> excluded = this.excluded.get();
		return !excluded.isEmpty() && find(dataSource,
				(candidate) -> excluded.stream().anyMatch((one) -> one == candidate) ? candidate : null) != null;
	}

	private @Nullable JdbcFence find(Predicate<JdbcFence> condition) {
		for (JdbcFence fence : this.fences.get()) {
			if (condition.test(fence)) {
				return fence;
			}
		}
		return null;
	}

	private static <T> @Nullable T find(@Nullable DataSource dataSource, Lookup<T> lookup) {
		DataSource next = dataSource;
		while (next != null) {
			DataSource candidate = ManagedDataSources.unwrap(next);
			T found = lookup.find(candidate);
			if (found != null) {
				return found;
			}
			next = (candidate instanceof DelegatingDataSource proxy) ? proxy.getTargetDataSource() : null;
		}
		return null;
	}

	// proxies of other makers than Spring unwrap too
	private static boolean wraps(DataSource proxy, DataSource target) {
		try {
			DataSource unproxied = unproxied(target);
			return proxy != target && proxy.isWrapperFor(unproxied.getClass())
					&& unproxied(proxy.unwrap(unproxied.getClass())) == unproxied;
		}
		catch (SQLException | RuntimeException ex) {
			// a proxy that cannot tell, such as a routing one without a key
			return false;
		}
	}

	// a class proxy of a bean answers in the name of what it stands for
	private static DataSource unproxied(DataSource dataSource) {
		return (AopProxyUtils.getSingletonTarget(dataSource) instanceof DataSource target) ? unproxied(target)
				: dataSource;
	}

	/**
	 * Looks for something that belongs to a data source.
	 *
	 * @param <T> the type of what is found
	 */
	@FunctionalInterface
	private interface Lookup<T> {

		@Nullable T find(DataSource candidate);

	}

}
