package io.fencing.autoconfigure;

import java.util.List;

import io.fencing.InvalidFencedOperationException;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

/**
 * Refuses what is written under {@code fencing.operations} and would be ignored: an
 * operation's name with a dot but no brackets, which is no name of a map's entry, or a
 * setting that does not exist. As with Spring Boot's own check, system properties and
 * environment variables are not looked at.
 */
final class OperationPropertyNames {

	private static final String PREFIX = "fencing.operations";

	private OperationPropertyNames() {
	}

	/**
	 * Check that all of it is bound.
	 * @param environment the properties
	 * @throws InvalidFencedOperationException if something is not
	 */
	static void check(Environment environment) {
		try {
			Binder.get(environment)
				.bind(PREFIX, Bindable.mapOf(String.class, FencingProperties.Operation.class),
						new NoUnboundElementsBindHandler(BindHandler.DEFAULT, new UnboundElementsSourceFilter()));
		}
		catch (BindException ex) {
			if (!(ex.getCause() instanceof UnboundConfigurationPropertiesException unbound)) {
				throw ex;
			}
			List<String> names = unbound.getUnboundProperties()
				.stream()
				.map(ConfigurationProperty::getName)
				.map(String::valueOf)
				.sorted()
				.toList();
			throw new InvalidFencedOperationException("Properties " + names + " are no settings of an operation; write"
					+ " the name of an operation that has a dot in brackets ('" + PREFIX
					+ "[Type.method].mode'), or correct the name of the setting", ex);
		}
	}

}
