package io.fencing.autoconfigure;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/**
 * Names the beans that an injection by type would choose from, without creating any.
 */
final class CandidateBeans {

	private CandidateBeans() {
	}

	/**
	 * Name them: those of the nearest context that has some, the primary one before
	 * others, a fallback after them; not those that are injected by a qualifier only.
	 * @param beanFactory where they are
	 * @param type their type
	 * @return their names, several if the choice is ambiguous
	 */
	static List<String> of(ListableBeanFactory beanFactory, Class<?> type) {
		List<String> candidates = Stream.of(beanFactory.getBeanNamesForType(type, true, false))
			.filter((name) -> is(beanFactory, name, CandidateBeans::isInjectable, true))
			.toList();
		if (candidates.isEmpty()) {
			BeanFactory parent = (beanFactory instanceof HierarchicalBeanFactory child) ? child.getParentBeanFactory()
					: null;
			return (parent instanceof ListableBeanFactory next) ? of(next, type) : candidates;
		}
		List<String> primary = only(candidates, beanFactory, BeanDefinition::isPrimary);
		return !primary.isEmpty() ? primary
				: orElse(only(candidates, beanFactory, (definition) -> !definition.isFallback()), candidates);
	}

	private static List<String> only(List<String> names, ListableBeanFactory beanFactory,
			Predicate<BeanDefinition> condition) {
		return names.stream().filter((name) -> is(beanFactory, name, condition, false)).toList();
	}

	private static List<String> orElse(List<String> names, List<String> others) {
		return names.isEmpty() ? others : names;
	}

	private static boolean is(ListableBeanFactory beanFactory, String name, Predicate<BeanDefinition> condition,
			boolean otherwise) {
		return (beanFactory instanceof ConfigurableListableBeanFactory known && known.containsBeanDefinition(name))
				? condition.test(known.getMergedBeanDefinition(name)) : otherwise;
	}

	private static boolean isInjectable(BeanDefinition definition) {
		return definition.isAutowireCandidate()
				&& (!(definition instanceof AbstractBeanDefinition known) || known.isDefaultCandidate());
	}

}
