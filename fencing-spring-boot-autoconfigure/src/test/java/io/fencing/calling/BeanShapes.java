package io.fencing.calling;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Function;

import io.fencing.FencedOperation;
import io.fencing.calling.CodeShapes.Accounts;
import io.fencing.calling.CodeShapes.Annotated;
import io.fencing.calling.CodeShapes.FinalImplementing;
import io.fencing.calling.CodeShapes.Implementing;
import io.fencing.calling.CodeShapes.ImplementingAnnotated;
import io.fencing.calling.CodeShapes.Plain;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.aopalliance.intercept.MethodInterceptor;
import org.mockito.Mockito;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * How the bean of an operation may be made.
 */
final class BeanShapes {

	private static final String SECTION = "The bean";

	private BeanShapes() {
	}

	static List<Shape> list() {
		return List.of(shape("lazy", Plain.class, (bean) -> bean.withdraw("42"), LazyBean.class),
				shape("lazy, of a type that does not show the annotation", Accounts.class,
						(bean) -> bean.withdraw("42"), LazyHidden.class),
				shape("lazy, of a type that does not show that its class is final", Accounts.class,
						(bean) -> bean.withdraw("42"), LazyFinal.class),
				shape("a prototype", Plain.class, (bean) -> bean.withdraw("42"), PrototypeBean.class),
				shape("a prototype of a type that does not show the annotation", Accounts.class,
						(bean) -> bean.withdraw("42"), PrototypeHidden.class),
				shape("a prototype of a type that does not show that its class is final", Accounts.class,
						(bean) -> bean.withdraw("42"), PrototypeFinal.class),
				new Shape(SECTION, "a prototype that is of another class the second time",
						(runner) -> runner.withUserConfiguration(PrototypeChanging.class), BeanShapes::callTwice),
				shape("a prototype with a bad expression behind its type", Accounts.class,
						(bean) -> bean.withdraw("42"), PrototypeBad.class),
				shape("a prototype that is wrapped before it is proxied", Accounts.class, (bean) -> bean.withdraw("42"),
						PrototypeHidden.class, WrapBefore.class),
				shape("scoped, with a class proxy", Plain.class, (bean) -> bean.withdraw("42"), ScopedClass.class,
						Scopes.class),
				shape("scoped, with an interface proxy", Accounts.class, (bean) -> bean.withdraw("42"),
						ScopedInterface.class, Scopes.class),
				shape("scoped, and final behind its interface proxy", Accounts.class, (bean) -> bean.withdraw("42"),
						ScopedFinal.class, Scopes.class),
				shape("in a circle of beans", CircleOne.class, (bean) -> bean.withdraw("42"), CircleOne.class,
						CircleTwo.class)
					.with((runner) -> runner.withAllowCircularReferences(true)),
				shape("in a circle of lazy beans", CircleOne.class, (bean) -> bean.withdraw("42"), CircleOne.class,
						CircleTwo.class)
					.with((runner) -> runner.withAllowCircularReferences(true)
						.withInitializer((context) -> context
							.addBeanFactoryPostProcessor((factory) -> List.of(factory.getBeanDefinitionNames())
								.forEach((name) -> factory.getBeanDefinition(name).setLazyInit(true))))),
				shape("wrapped by a post-processor before it is proxied", Accounts.class, (bean) -> bean.withdraw("42"),
						Implementing.class, WrapBefore.class),
				shape("wrapped by a post-processor after it is proxied", Accounts.class, (bean) -> bean.withdraw("42"),
						Implementing.class, WrapAfter.class),
				shape("wrapped by a class proxy of a post-processor before it is proxied", Accounts.class,
						(bean) -> bean.withdraw("42"), Implementing.class, SpringWrapBefore.class),
				shape("a Spring proxy made in a @Bean method, the interface annotated", Annotated.class,
						(bean) -> bean.withdraw("42"), MadeOfAnnotated.class),
				shape("a Spring proxy made in a @Bean method, the class annotated", Accounts.class,
						(bean) -> bean.withdraw("42"), MadeOfImplementing.class),
				shape("a Spring class proxy made in a @Bean method", Plain.class, (bean) -> bean.withdraw("42"),
						MadeOfPlain.class),
				shape("a JDK proxy made in a @Bean method, the interface annotated", Annotated.class,
						(bean) -> bean.withdraw("42"), JdkOfAnnotated.class),
				shape("a JDK proxy made in a @Bean method, around another bean", Accounts.class,
						(bean) -> bean.withdraw("42"), JdkOfBean.class),
				shape("a JDK proxy made in a @Bean method, around an object that is no bean", Accounts.class,
						(bean) -> bean.withdraw("42"), JdkOfImplementing.class)
					.isUnfenced("the object is unknown to Spring, and the proxy does not show it"),
				shape("a declarative client: an annotated interface without a class", Annotated.class,
						(bean) -> bean.withdraw("42"), DeclarativeClient.class),
				shape("made by a FactoryBean", Plain.class, (bean) -> bean.withdraw("42"), PlainFactory.class),
				shape("made anew by a FactoryBean", Accounts.class, (bean) -> bean.withdraw("42"),
						PrototypeFactory.class),
				new Shape(SECTION, "made by a FactoryBean that does not tell its type",
						(runner) -> runner.withUserConfiguration(SecretiveFactory.class),
						(context) -> ((Accounts) context.getBean("beanShapes.SecretiveFactory")).withdraw("42")),
				new Shape(SECTION, "made by a FactoryBean that does not tell that its class is final",
						(runner) -> runner.withUserConfiguration(SecretiveFinalFactory.class),
						(context) -> ((Accounts) context.getBean("beanShapes.SecretiveFinalFactory")).withdraw("42")),
				shape("the FactoryBean itself", FencedFactory.class, (bean) -> bean.withdraw("42"),
						FencedFactory.class),
				new Shape(SECTION, "the inner bean of another one",
						(runner) -> runner.withInitializer(BeanShapes::registerOwner),
						(context) -> context.getBean(Owner.class).accounts().withdraw("42")),
				new Shape(SECTION, "the inner bean of another one, wrapped before it is proxied",
						(runner) -> runner.withInitializer(BeanShapes::registerOwner)
							.withUserConfiguration(WrapBefore.class),
						(context) -> context.getBean(Owner.class).accounts().withdraw("42")),
				shape("a @Configuration class", FullConfiguration.class, (bean) -> bean.withdraw("42"),
						FullConfiguration.class),
				shape("a @Configuration class without bean method proxies", LiteConfiguration.class,
						(bean) -> bean.withdraw("42"), LiteConfiguration.class),
				new Shape(SECTION, "a @Bean method", (runner) -> runner.withUserConfiguration(BeanMethod.class),
						(context) -> context.getBean("made")),
				shape("a static @Bean method", BeanMethod.class, (bean) -> null, StaticBeanMethod.class),
				shape("a hidden class, class proxies", Annotated.class, (bean) -> bean.withdraw("42"),
						HiddenClass.class),
				shape("a hidden class, JDK proxies", Annotated.class, (bean) -> bean.withdraw("42"), HiddenClass.class)
					.with("spring.aop.proxy-target-class=false"),
				shape("created early by a BeanDefinitionRegistryPostProcessor", Plain.class,
						(bean) -> bean.withdraw("42"), Plain.class, EarlyForRegistry.class),
				shape("created early by a BeanFactoryPostProcessor", Plain.class, (bean) -> bean.withdraw("42"),
						Plain.class, EarlyForFactory.class),
				shape("a @Configuration class with a BeanFactoryPostProcessor in a method that is not static",
						EarlyConfiguration.class, (bean) -> bean.withdraw("42"), EarlyConfiguration.class),
				shape("with the role of infrastructure", Plain.class, (bean) -> bean.withdraw("42"),
						InfrastructureBean.class),
				shape("with the role of infrastructure, the method final", CodeShapes.FinalMethod.class,
						(bean) -> bean.withdraw("42"), FinalInfrastructureBean.class),
				shape("a Spring proxy registered as an object", Plain.class, (bean) -> bean.withdraw("42"),
						RegisteredProxy.class),
				shape("an @Autowired method", Injected.class, (bean) -> null, Injected.class),
				shape("registered as an object", Plain.class, (bean) -> bean.withdraw("42"), Registered.class),
				shape("replaced by a mock, as @MockitoBean does", Plain.class, BeanShapes::mocked, Plain.class,
						Mocked.class)
					.isUnfenced("an object that a test puts in the place of a bean is left as it is"),
				shape("a spy made before the proxy, as @MockitoSpyBean does", Accounts.class,
						(bean) -> bean.withdraw("42"), Implementing.class, Spying.class),
				shape("@PostConstruct", Initialized.class, (bean) -> null, Initialized.class),
				shape("@PostConstruct on what it overrides", InitializedAgain.class, (bean) -> null,
						InitializedAgain.class),
				shape("@PreDestroy", Destroyed.class, (bean) -> null, Destroyed.class),
				shape("afterPropertiesSet()", InitializedByInterface.class, (bean) -> null,
						InitializedByInterface.class),
				shape("afterPropertiesSet(), the class annotated", InitializedOnClass.class, (bean) -> null,
						InitializedOnClass.class),
				shape("the init method of a @Bean", InitMethod.class, (bean) -> null, InitMethodBean.class),
				shape("the inferred destroy method of a @Bean", Closing.class, (bean) -> null, ClosingBean.class),
				shape("close() of a lazy bean", Closing.class, (bean) -> null, LazyClosingBean.class));
	}

	private static <T> Shape shape(String name, Class<T> type, Function<T, Object> call, Class<?>... components) {
		return Shape.of(SECTION, name, type, call, components);
	}

	private static void registerOwner(ConfigurableApplicationContext context) {
		((GenericApplicationContext) context).registerBeanDefinition("owner",
				BeanDefinitionBuilder.rootBeanDefinition(Owner.class)
					.addConstructorArgValue(
							BeanDefinitionBuilder.rootBeanDefinition(Implementing.class).getBeanDefinition())
					.getBeanDefinition());
	}

	private static Object callTwice(ApplicationContext context) {
		context.getBean(Accounts.class).withdraw("42");
		return context.getBean(Accounts.class).withdraw("42");
	}

	private static Object mocked(Plain bean) {
		return (bean.withdraw("42") == null) ? "nothing" : "its class";
	}

	@SuppressWarnings("unchecked")
	private static <T> T jdkProxy(Class<T> type, Object target) {
		return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> method.invoke(target, arguments));
	}

	private static <T> T springProxy(Class<T> type, Object target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.proceed());
		return type.cast(factory.getProxy());
	}

	@Configuration(proxyBeanMethods = false)
	static class LazyBean {

		@Bean
		@Lazy
		Plain plain() {
			return new Plain();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyHidden {

		@Bean
		@Lazy
		Accounts accounts() {
			return new Implementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyFinal {

		@Bean
		@Lazy
		Accounts accounts() {
			return new FinalImplementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeBean {

		@Bean
		@Scope("prototype")
		Plain plain() {
			return new Plain();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeHidden {

		@Bean
		@Scope("prototype")
		Accounts accounts() {
			return new Implementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeFinal {

		@Bean
		@Scope("prototype")
		Accounts accounts() {
			return new FinalImplementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeChanging {

		private int made;

		@Bean
		@Scope("prototype")
		Accounts accounts() {
			return (this.made++ == 0) ? new Implementing() : new FinalImplementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeBad {

		@Bean
		@Scope("prototype")
		Accounts accounts() {
			return new Accounts() {

				@Override
				@FencedOperation("account:#{#number}")
				public String withdraw(String id) {
					return Seen.record();
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scopes {

		@Bean
		static CustomScopeConfigurer scopes() {
			CustomScopeConfigurer scopes = new CustomScopeConfigurer();
			scopes.addScope("thread", new SimpleThreadScope());
			return scopes;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedClass {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Plain plain() {
			return new Plain();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedInterface {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.INTERFACES)
		Accounts accounts() {
			return new Implementing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedFinal {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.INTERFACES)
		Accounts accounts() {
			return new FinalImplementing();
		}

	}

	public static class CircleOne {

		@Autowired
		private CircleTwo two;

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return this.two.record();
		}

	}

	public static class CircleTwo {

		@Autowired
		private CircleOne one;

		public String record() {
			return (this.one != null) ? Seen.record() : "no circle";
		}

	}

	static class Wrapper implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof Accounts) ? jdkProxy(Accounts.class, bean) : bean;
		}

	}

	static class WrapBefore extends Wrapper implements PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

	static class WrapAfter extends Wrapper {

	}

	static class SpringWrapBefore extends WrapBefore {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Accounts)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			factory.addAdvice((MethodInterceptor) (invocation) -> invocation.proceed());
			return factory.getProxy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MadeOfAnnotated {

		@Bean
		Annotated accounts() {
			return springProxy(Annotated.class, new ImplementingAnnotated());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MadeOfImplementing {

		@Bean
		Accounts accounts() {
			return springProxy(Accounts.class, new Implementing());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MadeOfPlain {

		@Bean
		Plain accounts() {
			return springProxy(Plain.class, new Plain());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdkOfAnnotated {

		@Bean
		Annotated accounts() {
			return jdkProxy(Annotated.class, new ImplementingAnnotated());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdkOfBean {

		@Bean
		Implementing implementing() {
			return new Implementing();
		}

		@Bean
		@Primary
		Accounts accounts(Implementing implementing) {
			return jdkProxy(Accounts.class, implementing);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdkOfImplementing {

		@Bean
		Accounts accounts() {
			return jdkProxy(Accounts.class, new Implementing());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DeclarativeClient {

		@Bean
		Annotated accounts() {
			return ProxyFactory.getProxy(Annotated.class, (MethodInterceptor) (invocation) -> Seen.record());
		}

	}

	static class PlainFactory implements FactoryBean<Plain> {

		@Override
		public Plain getObject() {
			return new Plain();
		}

		@Override
		public Class<?> getObjectType() {
			return Plain.class;
		}

	}

	static class PrototypeFactory implements FactoryBean<Accounts> {

		@Override
		public Accounts getObject() {
			return new Implementing();
		}

		@Override
		public Class<?> getObjectType() {
			return Accounts.class;
		}

		@Override
		public boolean isSingleton() {
			return false;
		}

	}

	record Owner(Accounts accounts) {
	}

	public static class FencedFactory implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return new Object();
		}

		@Override
		public Class<?> getObjectType() {
			return Object.class;
		}

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	// created by its declaration, since nobody could find it by its type
	static class SecretiveFactory implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return new Implementing();
		}

		@Override
		public Class<?> getObjectType() {
			return null;
		}

	}

	static class SecretiveFinalFactory extends SecretiveFactory {

		@Override
		public Object getObject() {
			return new FinalImplementing();
		}

	}

	@Configuration
	static class FullConfiguration {

		@Bean
		Object other() {
			return new Object();
		}

		@FencedOperation("account:#{#id}")
		String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LiteConfiguration {

		@FencedOperation("account:#{#id}")
		String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration
	static class BeanMethod {

		@Bean
		@Lazy
		@FencedOperation("account:42")
		String made() {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class StaticBeanMethod {

		@Bean
		@FencedOperation("account:42")
		static String made() {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenClass {

		@Bean
		Annotated accounts() throws Exception {
			byte[] code = HiddenClass.class.getResourceAsStream("AnnotatedAccounts.class").readAllBytes();
			return (Annotated) MethodHandles.lookup()
				.defineHiddenClass(code, true)
				.lookupClass()
				.getDeclaredConstructor()
				.newInstance();
		}

	}

	static class EarlyForRegistry implements BeanDefinitionRegistryPostProcessor {

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
			((ConfigurableListableBeanFactory) registry).getBean(Plain.class);
		}

	}

	static class EarlyForFactory implements BeanFactoryPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
			factory.getBean(Plain.class);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyConfiguration {

		@Bean
		BeanFactoryPostProcessor early() {
			return (factory) -> {
			};
		}

		@FencedOperation("account:#{#id}")
		String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InfrastructureBean {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		Plain plain() {
			return new Plain();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FinalInfrastructureBean {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		CodeShapes.FinalMethod plain() {
			return new CodeShapes.FinalMethod();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RegisteredProxy {

		@Bean
		static BeanFactoryPostProcessor registering() {
			return (factory) -> {
				ProxyFactory proxies = new ProxyFactory(new Plain());
				proxies.setProxyTargetClass(true);
				factory.registerSingleton("registered", proxies.getProxy());
			};
		}

	}

	static class Injected {

		@Autowired
		@FencedOperation("account:42")
		void setContext(ApplicationContext context) {
			Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Registered {

		@Bean
		static BeanFactoryPostProcessor registering() {
			return (factory) -> factory.registerSingleton("registered", new Plain());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Mocked {

		@Bean
		static BeanFactoryPostProcessor mocking() {
			return (factory) -> factory.registerSingleton("codeShapes.Plain", Mockito.mock(Plain.class));
		}

	}

	static class Spying implements BeanPostProcessor, PriorityOrdered {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof Accounts) ? Mockito.spy(bean) : bean;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

	}

	public static class Initialized {

		@PostConstruct
		@FencedOperation("account:42")
		public void withdraw() {
			Seen.record();
		}

	}

	public static class InitializedBase {

		@PostConstruct
		public void withdraw() {
		}

	}

	public static class InitializedAgain extends InitializedBase {

		@Override
		@FencedOperation("account:42")
		public void withdraw() {
			Seen.record();
		}

	}

	public static class Destroyed {

		@PreDestroy
		@FencedOperation("account:42")
		public void withdraw() {
			Seen.record();
		}

	}

	public static class InitializedByInterface implements InitializingBean {

		@Override
		@FencedOperation("account:42")
		public void afterPropertiesSet() {
			Seen.record();
		}

	}

	@FencedOperation("account:42")
	public static class InitializedOnClass implements InitializingBean {

		@Override
		public void afterPropertiesSet() {
			Seen.record();
		}

	}

	public static class InitMethod {

		@FencedOperation("account:42")
		public void begin() {
			Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InitMethodBean {

		@Bean(initMethod = "begin")
		InitMethod initMethod() {
			return new InitMethod();
		}

	}

	public static class Closing {

		@FencedOperation("account:42")
		public void close() {
			Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ClosingBean {

		@Bean
		Closing closing() {
			return new Closing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyClosingBean {

		@Bean
		@Lazy
		Closing closing() {
			return new Closing();
		}

	}

}
