package io.fencing.fence.jdbc;

import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Puts {@link FencedStatements} in front of every {@link JdbcTemplate} bean, which keeps
 * its class, and of {@link JdbcClient} beans. A {@link NamedParameterJdbcTemplate} bean
 * made by hand from a template that is no bean is made anew; one of a subclass is
 * reported.
 */
public final class FencedTemplatePostProcessor extends AbstractAdvisingBeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(FencedTemplatePostProcessor.class);

	private final FencedStatements statements;

	private final Advisor templateAdvisor;

	/**
	 * Create the post-processor.
	 * @param fences gives the fences; called at the first statement
	 */
	public FencedTemplatePostProcessor(Supplier<JdbcFences> fences) {
		this.statements = new FencedStatements(fences);
		this.templateAdvisor = new EveryCall(new FencedTemplateInterceptor(this.statements));
		this.advisor = this.templateAdvisor;
		setProxyTargetClass(true);
	}

	@Override
	protected boolean isEligible(Class<?> targetClass) {
		return JdbcTemplate.class.isAssignableFrom(targetClass) && super.isEligible(targetClass);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof NamedParameterJdbcTemplate template) {
			return fence(template, beanName);
		}
		if (bean instanceof JdbcClient client) {
			return FencedJdbcClient.wrap(client, beanName, this.statements);
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	private NamedParameterJdbcTemplate fence(NamedParameterJdbcTemplate bean, String beanName) {
		JdbcOperations operations = bean.getJdbcOperations();
		if (FencedTemplateInterceptor.isPresent(operations)) {
			return bean;
		}
		if (bean.getClass() != NamedParameterJdbcTemplate.class || !(operations instanceof JdbcTemplate template)) {
			logger.warn("Bean '{}' of type '{}' goes by no fence; make it from a JdbcTemplate that is a bean", beanName,
					bean.getClass().getName());
			return bean;
		}
		ProxyFactory factory = prepareProxyFactory(template, beanName);
		factory.addAdvisor(this.templateAdvisor);
		NamedParameterJdbcTemplate fenced = new NamedParameterJdbcTemplate(bean,
				(JdbcTemplate) factory.getProxy(getProxyClassLoader()));
		fenced.setCacheLimit(bean.getCacheLimit());
		return fenced;
	}

}
