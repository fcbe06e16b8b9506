package io.fencing.fence.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.context.OperationContext;
import io.fencing.fence.FenceSource;
import io.fencing.fence.UnfencedWrites;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * All JDBC fences of an application, found by data source. The fences are made at first
 * use, when every bean is there. Thread-safe.
 */
public final class JdbcFences implements FenceSource {

	private final UnfencedWrites unfencedWrites;

	private final Supplier<? extends Collection<JdbcFence>> fences;

	/**
	 * Create the registry.
	 * @param unfencedWrites what happens to writes outside of operations
	 * @param fences makes the fences, one for each data source; called once
	 */
	public JdbcFences(UnfencedWrites unfencedWrites, Supplier<? extends Collection<JdbcFence>> fences) {
		this.unfencedWrites = unfencedWrites;
		this.fences = SingletonSupplier.of(() -> List.copyOf(fences.get()));
	}

	@Override
	public Collection<JdbcFence> getFences() {
		return this.fences.get();
	}

	/**
	 * Find the fence of a data source.
	 * @param dataSource the data source, or a proxy in front of it
	 * @return the fence, {@code null} if the data source is not fenced
	 */
	@Nullable JdbcFence find(@Nullable DataSource dataSource) {
		DataSource candidate = dataSource;
		while (candidate != null) {
			for (JdbcFence fence : this.fences.get()) {
				if (fence.getDataSource() == candidate) {
					return fence;
				}
			}
			candidate = (candidate instanceof DelegatingDataSource proxy) ? proxy.getTargetDataSource() : null;
		}
		return null;
	}

	/**
	 * Find the fence that a statement must go by. Makes no fences where none is needed,
	 * as for statements while the application starts.
	 * @param dataSource the data source, or a proxy in front of it
	 * @return the fence, {@code null} if the statement may pass
	 */
	@Nullable JdbcFence findForStatement(@Nullable DataSource dataSource) {
		boolean passes = this.unfencedWrites == UnfencedWrites.ALLOW && OperationContext.get() == null;
		return passes ? null : find(dataSource);
	}

}
