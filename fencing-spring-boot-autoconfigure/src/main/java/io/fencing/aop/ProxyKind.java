package io.fencing.aop;

import java.lang.reflect.Proxy;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Foretells what kind of proxy a bean gets, with the rules of Spring's auto-proxy
 * creators.
 */
final class ProxyKind extends ProxyProcessorSupport {

	private static final long serialVersionUID = 1L;

	private final transient ConfigurableListableBeanFactory beanFactory;

	ProxyKind(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Whether a bean is to be proxied by a subclass of its class.
	 * @param beanName the name of the bean
	 * @param beanClass its class
	 * @return {@code false} if its proxy has only its interfaces
	 */
	boolean isSubclass(String beanName, Class<?> beanClass) {
		if (Proxy.isProxyClass(beanClass) || ClassUtils.isLambdaClass(beanClass)) {
			return false;
		}
		if (AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, beanName)) {
			return true;
		}
		if (!hasExposedInterfaces(beanName) && isSubclassByDefault()) {
			return true;
		}
		ProxyFactory proxyFactory = new ProxyFactory();
		evaluateProxyInterfaces(beanClass, proxyFactory);
		return proxyFactory.isProxyTargetClass();
	}

	private boolean hasExposedInterfaces(String beanName) {
		return this.beanFactory.containsBeanDefinition(beanName) && this.beanFactory.getBeanDefinition(beanName)
			.hasAttribute(AutoProxyUtils.EXPOSED_INTERFACES_ATTRIBUTE);
	}

	private boolean isSubclassByDefault() {
		if (this.beanFactory.containsBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)) {
			BeanDefinition creator = this.beanFactory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME);
			if (Boolean.TRUE.equals(creator.getPropertyValues().get("proxyTargetClass"))) {
				return true;
			}
		}
		return this.beanFactory.containsBean(AutoProxyUtils.DEFAULT_PROXY_CONFIG_BEAN_NAME)
				&& this.beanFactory.getBean(AutoProxyUtils.DEFAULT_PROXY_CONFIG_BEAN_NAME, ProxyConfig.class)
					.isProxyTargetClass();
	}

}
