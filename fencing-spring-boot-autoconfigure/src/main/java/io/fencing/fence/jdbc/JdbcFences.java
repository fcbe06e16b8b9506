package io.fencing.fence.jdbc;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.fencing.fence.FenceSource;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * All JDBC fences of an application, found by data source. The fences are made at first
 * use, when every bean is there. Thread-safe.
 */
public final class JdbcFences implements FenceSource {

	private final Supplier<? extends Collection<JdbcFence>> fences;

	/**
	 * Create the registry.
	 * @param fences makes the fences, one for each data source; called once
	 */
	public JdbcFences(Supplier<? extends Collection<JdbcFence>> fences) {
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

}
