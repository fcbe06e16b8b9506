package io.fencing.autoconfigure;

import io.fencing.aop.Weaving;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;

/**
 * What is left to do when fencing is switched off: methods that AspectJ has woven must
 * run as they are.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "fencing.enabled", havingValue = false)
public final class FencingDisabledAutoConfiguration implements InitializingBean, DisposableBean {

	@Override
	public void afterPropertiesSet() {
		Weaving.setDisabled(true);
	}

	@Override
	public void destroy() {
		Weaving.setDisabled(false);
	}

}
