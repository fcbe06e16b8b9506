package io.fencing.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Advice that stands where it may not stand stops the start, whoever applies it and
 * whether or not the bean is there already; advice that only costs something is told.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisedMethodRulesTests {

	static final List<Arguments> REFUSED = both(
			Arguments.of(Retried.class, ResilientInside.class, "", "it would be retried inside"),
			Arguments.of(RetriedByType.class, ResilientInside.class, "", "it would be retried inside"),
			Arguments.of(RetriedByMeta.class, ResilientInside.class, "", "it would be retried inside"),
			Arguments.of(RetriedByLibrary.class, LibraryRetry.class, "fencing.aspect.order=0",
					"it would be retried inside"),
			Arguments.of(Handed.class, AsyncInside.class, "", "it would be handed to another thread"),
			Arguments.of(HandedByType.class, AsyncInside.class, "", "it would be handed to another thread"),
			Arguments.of(HandedByMeta.class, AsyncInside.class, "", "it would be handed to another thread"),
			Arguments.of(Transacting.class, OpaqueTransactionOutside.class, "", "transaction would be opened outside"),
			Arguments.of(HalfAnnotated.class, WrappedByInterfaces.class, "", "does not carry the advice"));

	static final List<Arguments> TOLD = both(
			Arguments.of(Limited.class, ResilientInside.class, "", "its calls wait for their turn inside"),
			Arguments.of(LimitedByType.class, ResilientInside.class, "", "its calls wait for their turn inside"),
			Arguments.of(Secured.class, Securing.class, "fencing.aspect.order=0",
					"it is secured, and callers that are denied"),
			Arguments.of(Cached.class, CachingOutside.class, "", "it is cached outside of its lease"));

	static final List<Arguments> SILENT = both(Arguments.of(Retried.class, Resilient.class, "", ""),
			Arguments.of(RetriedByType.class, Resilient.class, "", ""),
			Arguments.of(RetriedByLibrary.class, LibraryRetryOutside.class, "", ""),
			Arguments.of(Handed.class, HandingOver.class, "", ""),
			Arguments.of(HandedByType.class, HandingOver.class, "", ""),
			Arguments.of(Limited.class, Resilient.class, "", ""), Arguments.of(Secured.class, Securing.class, "", ""),
			// the advice of other methods is no problem
			Arguments.of(HandedElsewhere.class, AsyncInside.class, "", ""));

	@ParameterizedTest
	@FieldSource("REFUSED")
	void whenAdviceMayNotStandThereThenRefused(Class<?> bean, Class<?> configuration, String property, String problem,
			boolean lazy) {
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> start(bean, lazy, property, AspectConfiguration.class, configuration).close())
			.withMessageContaining("Bean 'suspect'")
			.withMessageContaining(bean.getSimpleName() + ".")
			.withMessageContaining(problem);
	}

	@ParameterizedTest
	@FieldSource("TOLD")
	void whenAdviceCostsSomethingThereThenTold(Class<?> bean, Class<?> configuration, String property, String problem,
			boolean lazy, CapturedOutput output) {
		start(bean, lazy, property, AspectConfiguration.class, configuration).close();
		assertThat(output).contains(bean.getSimpleName() + ".run()': " + problem);
	}

	@ParameterizedTest
	@FieldSource("SILENT")
	void whenAdviceStandsWhereItBelongsThenStarts(Class<?> bean, Class<?> configuration, String property,
			String problem, boolean lazy, CapturedOutput output) {
		start(bean, lazy, property, AspectConfiguration.class, configuration).close();
		assertThat(output).doesNotContain("@FencedOperation method");
	}

	// case 04: fence and transaction of one order stand as they were registered, and the
	// retry first, since it is an introduction
	@ParameterizedTest
	@MethodSource("orders")
	void case04WhenOrdersAreEqualThenTransactionIsInsideOrRefused(List<Class<?>> order) {
		Class<?>[] configurations = order.toArray(Class<?>[]::new);
		boolean right = order.indexOf(AspectConfiguration.class) < order.indexOf(EqualTransaction.class);
		for (boolean lazy : new boolean[] { false, true }) {
			Throwable failure = catchThrowable(() -> start(RetriedTransaction.class, lazy, "", configurations).close());
			if (right) {
				assertThat(failure).isNull();
			}
			else {
				assertThat(failure).isInstanceOf(InvalidFencedOperationException.class)
					.hasMessageContaining("transaction would be opened outside");
			}
		}
	}

	static Stream<List<Class<?>>> orders() {
		List<Class<?>> all = List.of(LibraryRetry.class, AspectConfiguration.class, EqualTransaction.class);
		return all.stream()
			.flatMap((first) -> all.stream()
				.filter((second) -> second != first)
				.map((second) -> Stream
					.concat(Stream.of(first, second), all.stream().filter((third) -> third != first && third != second))
					.collect(Collectors.<Class<?>>toList())));
	}

	private static List<Arguments> both(Arguments... cases) {
		List<Arguments> all = new ArrayList<>();
		for (Arguments one : cases) {
			for (boolean lazy : new boolean[] { false, true }) {
				// a wrapper of one's own is only seen on a bean that is there
				if (!lazy || one.get()[0] != HalfAnnotated.class) {
					Object[] arguments = Arrays.copyOf(one.get(), 5);
					arguments[4] = lazy;
					all.add(Arguments.of(arguments));
				}
			}
		}
		return all;
	}

	private static AnnotationConfigApplicationContext start(Class<?> bean, boolean lazy, String property,
			Class<?>... configurations) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of(property.isEmpty() ? new String[0] : new String[] { property }).applyTo(context);
		context.register(configurations);
		context.registerBeanDefinition("suspect",
				BeanDefinitionBuilder.rootBeanDefinition(bean).setLazyInit(lazy).getBeanDefinition());
		try {
			context.refresh();
		}
		catch (RuntimeException | Error ex) {
			context.close();
			throw ex;
		}
		return context;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	static class Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Resilient extends Proxying {

	}

	// its post-processor comes before the one that makes the proxy
	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class ResilientInside extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	static class HandingOver extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class AsyncInside extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableRetry(proxyTargetClass = true)
	static class LibraryRetry {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableRetry(proxyTargetClass = true, order = Ordered.LOWEST_PRECEDENCE - 2)
	static class LibraryRetryOutside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.LOWEST_PRECEDENCE - 1)
	static class EqualTransaction {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Securing extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(proxyTargetClass = true, order = 0)
	static class CachingOutside extends Proxying {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.LOWEST_PRECEDENCE - 2)
	static class OpaqueTransactionOutside {

		@Bean
		static BeanFactoryPostProcessor opaque() {
			return (beanFactory) -> beanFactory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				.getPropertyValues()
				.add("opaque", true);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy
	static class WrappedByInterfaces {

		@Bean
		static InterfaceWrapper wrapper() {
			return new InterfaceWrapper();
		}

	}

	/** Makes a proxy that has only interfaces, before the one that fences is made. */
	static class InterfaceWrapper implements BeanPostProcessor, PriorityOrdered {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof HalfAnnotated) ? new ProxyFactory(bean).getProxy() : bean;
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Retryable
	@interface Again {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Async
	@interface Elsewhere {

	}

	interface Halves {

		@FencedOperation("half")
		void declared();

		void hidden();

	}

	public static class HalfAnnotated implements Halves {

		@Override
		public void declared() {
		}

		@Override
		@FencedOperation("half")
		public void hidden() {
		}

	}

	public static class Retried {

		@FencedOperation("a")
		@Retryable
		public void run() {
		}

	}

	@Retryable
	public static class RetriedByType {

		@FencedOperation("a")
		public void run() {
		}

	}

	public static class RetriedByMeta {

		@FencedOperation("a")
		@Again
		public void run() {
		}

	}

	public static class RetriedByLibrary {

		@FencedOperation("a")
		@org.springframework.retry.annotation.Retryable
		public void run() {
		}

	}

	public static class RetriedTransaction {

		@FencedOperation("a")
		@org.springframework.retry.annotation.Retryable
		@Transactional
		public void run() {
		}

	}

	public static class Handed {

		@FencedOperation("a")
		@Async
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	@Async
	public static class HandedByType {

		@FencedOperation("a")
		public void run() {
		}

	}

	public static class HandedByMeta {

		@FencedOperation("a")
		@Elsewhere
		public void run() {
		}

	}

	public static class HandedElsewhere {

		@FencedOperation("a")
		public void run() {
		}

		@Async
		public void other() {
		}

	}

	public static class Limited {

		@FencedOperation("a")
		@ConcurrencyLimit(1)
		public void run() {
		}

	}

	@ConcurrencyLimit(1)
	public static class LimitedByType {

		@FencedOperation("a")
		public void run() {
		}

	}

	public static class Secured {

		@FencedOperation("a")
		@PreAuthorize("hasRole('CLERK')")
		public void run() {
		}

	}

	public static class Cached {

		@FencedOperation("a")
		@Cacheable("answers")
		public String run() {
			return "";
		}

	}

	public static class Transacting {

		@FencedOperation("a")
		@Transactional
		public void run() {
		}

	}

}
