package io.fencing.calling;

import java.util.List;
import java.util.function.UnaryOperator;

import io.fencing.FencedOperation;
import io.fencing.calling.CodeShapes.Accounts;
import io.fencing.calling.CodeShapes.Implementing;
import io.fencing.calling.CodeShapes.Plain;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.aspectj.annotation.AnnotationAwareAspectJAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/**
 * What may make the proxies of an application.
 */
final class PlumbingShapes {

	private static final String SECTION = "What makes proxies";

	private static final String NO_AOP = "spring.aop.auto=false";

	private PlumbingShapes() {
	}

	static List<Shape> list() {
		return List.of(plain("as Boot does it"),
				plain("`spring.aop.proxy-target-class=false`").with("spring.aop.proxy-target-class=false"),
				plain("`spring.aop.auto=false`").with(NO_AOP),
				plain("no aspectjweaver")
					.with((runner) -> runner.withClassLoader(new FilteredClassLoader("org.aspectj"))),
				plain("no aspectjweaver, `spring.aop.auto=false`").with(NO_AOP)
					.with((runner) -> runner.withClassLoader(new FilteredClassLoader("org.aspectj"))),
				plain("`spring.aop.auto=false`, `@EnableTransactionManagement`", EnablingTransactions.class)
					.with(NO_AOP),
				plain("`spring.aop.auto=false`, `@EnableAspectJAutoProxy`", EnablingAspects.class).with(NO_AOP),
				plain("`spring.aop.auto=false`, a DefaultAdvisorAutoProxyCreator", DefaultCreator.class).with(NO_AOP),
				interfaced("the same, and an interface", DefaultCreator.class).with(NO_AOP),
				plain("`spring.aop.auto=false`, an AnnotationAwareAspectJAutoProxyCreator of its own",
						AspectCreator.class)
					.with(NO_AOP),
				plain("`spring.aop.auto=false`, a BeanNameAutoProxyCreator with another advice", NameCreator.class)
					.with(NO_AOP),
				plain("Boot and a DefaultAdvisorAutoProxyCreator", DefaultCreator.class),
				interfaced("the same, and an interface", DefaultCreator.class),
				Shape.of(SECTION, "the same, and a transaction", Transacting.class, (bean) -> bean.withdraw("42"),
						Transacting.class, DefaultCreator.class, CallerShapes.Transactions.class),
				plain("Boot and an AnnotationAwareAspectJAutoProxyCreator of its own", AspectCreator.class),
				plain("Boot and a BeanNameAutoProxyCreator with another advice", NameCreator.class),
				interfaced("the same, and an interface", NameCreator.class),
				plain("Boot and `@EnableTransactionManagement`", EnablingTransactions.class),
				new Shape(SECTION, "a bean of a parent context without fencing",
						(runner) -> runner.withParent(new AnnotationConfigApplicationContext(Plain.class)),
						(context) -> context.getBean(Plain.class).withdraw("42")),
				new Shape(SECTION, "a bean of a child context without fencing", UnaryOperator.identity(),
						(context) -> inChild(context, Plain.class)),
				new Shape(SECTION, "a bean of a child context without fencing, with proxies", UnaryOperator.identity(),
						(context) -> inChild(context, Plain.class, EnablingAspects.class)),
				new Shape(SECTION, "`fencing.enabled=false`",
						(runner) -> runner.withUserConfiguration(Plain.class)
							.withPropertyValues("fencing.enabled=false"),
						(context) -> context.getBean(Plain.class).withdraw("42"))
					.isUnfenced("switched off"));
	}

	private static Shape plain(String name, Class<?>... components) {
		return Shape.of(SECTION, name, Plain.class, (bean) -> bean.withdraw("42"), components)
			.with((runner) -> runner.withUserConfiguration(Plain.class));
	}

	private static Object inChild(ApplicationContext parent, Class<?>... components) {
		try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(components);
			try {
				child.refresh();
			}
			catch (RuntimeException ex) {
				throw new ApplicationContextException("The child has not started", ex);
			}
			return child.getBean(Plain.class).withdraw("42");
		}
	}

	private static Shape interfaced(String name, Class<?>... components) {
		return Shape.of(SECTION, name, Accounts.class, (bean) -> bean.withdraw("42"), components)
			.with((runner) -> runner.withUserConfiguration(Implementing.class));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class EnablingTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy
	static class EnablingAspects {

	}

	@Configuration(proxyBeanMethods = false)
	static class DefaultCreator {

		@Bean
		static DefaultAdvisorAutoProxyCreator creator() {
			return new DefaultAdvisorAutoProxyCreator();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AspectCreator {

		@Bean
		static AnnotationAwareAspectJAutoProxyCreator creator() {
			return new AnnotationAwareAspectJAutoProxyCreator();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NameCreator {

		@Bean
		static MethodInterceptor timing() {
			return (invocation) -> invocation.proceed();
		}

		@Bean
		static BeanNameAutoProxyCreator creator() {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("codeShapes*");
			creator.setInterceptorNames("timing");
			return creator;
		}

	}

	public static class Transacting {

		@Transactional
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

}
