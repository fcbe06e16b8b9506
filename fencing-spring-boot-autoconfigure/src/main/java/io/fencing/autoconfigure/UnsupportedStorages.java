package io.fencing.autoconfigure;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.FencingMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Refuses at start what reaches a relational database by a way that no fence stands in:
 * R2DBC and JTA. Who needs it for something else excludes the bean.
 */
final class UnsupportedStorages implements SmartInitializingSingleton {

	static final String EXCLUDED = "fencing.jdbc.excluded-storages";

	private static final Logger logger = LoggerFactory.getLogger(UnsupportedStorages.class);

	private final ListableBeanFactory beanFactory;

	private final Environment environment;

	private final FencingMode mode;

	UnsupportedStorages(ListableBeanFactory beanFactory, Environment environment, FencingMode mode) {
		this.beanFactory = beanFactory;
		this.environment = environment;
		this.mode = mode;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (this.mode == FencingMode.OFF) {
			return;
		}
		// read here, since the other properties of fences need Boot's JDBC module
		List<String> names = Binder.get(this.environment)
			.bind(EXCLUDED, Bindable.listOf(String.class))
			.orElse(List.of());
		Set<String> excluded = StorageNames.resolve(this.beanFactory, EXCLUDED, names, excludable(this.beanFactory));
		r2dbc(this.beanFactory).stream()
			.filter((name) -> !excluded.contains(name))
			.forEach((name) -> refuse(
					"Bean '" + name + "' is an R2DBC ConnectionFactory, and a reactive transaction "
							+ "stays on no thread that a fence could follow, so that what it writes goes by no fence",
					name));
		jta(this.beanFactory).stream()
			.filter((name) -> !excluded.contains(name))
			.forEach((name) -> refuse("Bean '" + name + "' is a JTA transaction manager, which tells nobody of the "
					+ "connections of its transactions, so that they cannot hold a fence", name));
	}

	private void refuse(String problem, String name) {
		InvalidFencedOperationException refusal = new InvalidFencedOperationException(problem
				+ "; write what is protected through JDBC or JPA with a transaction manager of one DataSource, and name '"
				+ name + "' in '" + EXCLUDED + "' if fenced operations do not use it");
		if (this.mode == FencingMode.OBSERVE) {
			logger.warn("{}", refusal.getMessage());
			return;
		}
		throw refusal;
	}

	/**
	 * The beans that may be excluded.
	 * @param beanFactory where they are
	 * @return their names
	 */
	static Set<String> excludable(ListableBeanFactory beanFactory) {
		Set<String> names = new TreeSet<>(r2dbc(beanFactory));
		names.addAll(jta(beanFactory));
		Collections.addAll(names, beanFactory.getBeanNamesForType(DataSource.class, false, true));
		return names;
	}

	private static Set<String> r2dbc(ListableBeanFactory beanFactory) {
		return names(beanFactory, "io.r2dbc.spi.ConnectionFactory");
	}

	private static Set<String> jta(ListableBeanFactory beanFactory) {
		return names(beanFactory, "org.springframework.transaction.jta.JtaTransactionManager");
	}

	private static Set<String> names(ListableBeanFactory beanFactory, String type) {
		ClassLoader loader = UnsupportedStorages.class.getClassLoader();
		Set<String> names = new HashSet<>();
		if (ClassUtils.isPresent(type, loader)) {
			Collections.addAll(names,
					beanFactory.getBeanNamesForType(ClassUtils.resolveClassName(type, loader), true, false));
		}
		return new TreeSet<>(names);
	}

}
