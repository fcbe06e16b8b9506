package io.fencing.aop;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

/**
 * Foretells the advisors that beans will have, without creating any: the application's
 * post-processors advise a proxy factory in the place of the bean.
 */
final class ForetoldAdvisors {

	private final ConfigurableListableBeanFactory beanFactory;

	ForetoldAdvisors(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * The advisors of the beans of a class.
	 * @param type the class
	 * @return its advisors, the outermost first
	 */
	List<Advisor> of(Class<?> type) {
		Deque<ProxyFactory> layers = new ArrayDeque<>();
		layers.push(layer(type));
		for (BeanPostProcessor postProcessor : ((AbstractBeanFactory) this.beanFactory).getBeanPostProcessors()) {
			if (postProcessor instanceof AbstractAdvisingBeanPostProcessor advising) {
				// adds to what is advised already, on the outside or on the inside
				advising.postProcessAfterInitialization(layers.getFirst(), type.getName());
			}
			else if (postProcessor instanceof AbstractAdvisorAutoProxyCreator) {
				ProxyFactory layer = layer(type);
				layer.addAdvisors(applicable(type));
				layers.push(layer);
			}
		}
		return layers.stream().flatMap((layer) -> List.of(layer.getAdvisors()).stream()).toList();
	}

	private List<Advisor> applicable(Class<?> type) {
		List<Advisor> advisors = new ArrayList<>(
				BeanFactoryUtils.beansOfTypeIncludingAncestors(this.beanFactory, Advisor.class, true, false).values());
		List<Advisor> applicable = AopUtils.findAdvisorsThatCanApply(advisors, type);
		AnnotationAwareOrderComparator.sort(applicable);
		return applicable;
	}

	private static ProxyFactory layer(Class<?> type) {
		ProxyFactory layer = new ProxyFactory();
		layer.setTargetSource(EmptyTargetSource.forClass(type));
		return layer;
	}

}
