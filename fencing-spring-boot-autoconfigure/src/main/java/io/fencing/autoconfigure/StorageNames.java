package io.fencing.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.fencing.InvalidFencedOperationException;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

/**
 * Finds the beans that a property names, by their names, aliases or qualifiers.
 */
final class StorageNames {

	private StorageNames() {
	}

	/**
	 * Find beans.
	 * @param beanFactory where they are
	 * @param property the property that names them
	 * @param names what it names
	 * @param candidates the names of the beans that it may name
	 * @return the names of the beans
	 * @throws InvalidFencedOperationException if a name is unknown or ambiguous
	 */
	static Set<String> resolve(ListableBeanFactory beanFactory, String property, Collection<String> names,
			Collection<String> candidates) {
		Set<String> resolved = new TreeSet<>();
		for (String name : names) {
			List<String> matching = candidates.contains(name) ? List.of(name)
					: candidates.stream()
						.filter((one) -> BeanFactoryAnnotationUtils.isQualifierMatch(name::equals, one, beanFactory))
						.toList();
			if (matching.size() > 1) {
				throw new InvalidFencedOperationException("Property '" + property + "' names '" + name
						+ "', which is a qualifier of several beans, " + matching + "; name one of these");
			}
			if (matching.isEmpty()) {
				throw new InvalidFencedOperationException(
						"Property '" + property + "' names '" + name + "', but the beans that it may name are "
								+ new TreeSet<>(candidates) + "; name some of these or their qualifiers");
			}
			resolved.addAll(matching);
		}
		return resolved;
	}

}
