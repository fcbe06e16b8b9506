package io.fencing.aop;

import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import javax.tools.ToolProvider;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import jakarta.validation.constraints.NotNull;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.MapPropertySource;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * An operation that would not be fenced stops the start, and the error names bean and
 * method.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedOperationVerifierTests {

	@ParameterizedTest
	@ValueSource(classes = { Literal.class, Blank.class, BadSyntax.class, NoUnit.class, ZeroLease.class, Negative.class,
			NoDuration.class, ShortLease.class, ShortHold.class, LongHold.class, PlainProperty.class,
			UnknownPlaceholder.class, DynamicName.class, OperationId.class, Input.class, External.class,
			NotRepeatable.class, Deferred.class, OddStage.class, Published.class, Reactive.class,
			SkippingPrimitive.class, FinalMethod.class, FinalClass.class, PrivateMethod.class, StaticMethod.class,
			FinalOfType.class })
	void whenOperationIsWrongThenStartFailsNamingBeanAndMethod(Class<?> bean) {
		assertRefused(Proxying.class, bean).withMessageContaining("Bean 'suspect'")
			.withMessageContaining(bean.getSimpleName() + ".run(");
		assertRefusedWhenLazy(Proxying.class, bean).withMessageContaining("Bean 'suspect'")
			.withMessageContaining(bean.getSimpleName() + ".run(");
	}

	@Test
	void whenJournalAttributeIsUsedThenErrorNamesIt() {
		assertRefused(Proxying.class, OperationId.class).withMessageContaining("'operationId'");
		assertRefused(Proxying.class, Input.class).withMessageContaining("'input'");
		assertRefused(Proxying.class, External.class).withMessageContaining("'external'");
		assertRefused(Proxying.class, NotRepeatable.class).withMessageContaining("'notRepeatableFor'");
	}

	@Test
	void whenResultIsAStageThenStarts() {
		assertStarts(Proxying.class, Staged.class);
		assertStarts(Proxying.class, Completing.class);
	}

	@Test
	void whenMethodIsFinalThenErrorTellsKotlinCase48() {
		assertRefused(Proxying.class, FinalMethod.class).withMessageContaining("it is final")
			.withMessageContaining("Kotlin");
		assertRefused(Proxying.class, FinalClass.class).withMessageContaining("its class is final");
	}

	@Test
	void whenBeanIsProxiedByInterfacesThenFinalIsNoProblemButOtherMethodsAre() {
		assertStarts(InterfaceProxying.class, FinalService.class);
		assertRefused(InterfaceProxying.class, HiddenMethod.class)
			.withMessageContaining("none of which has the method");
	}

	@Test
	void whenTransactionAdviceIsOutsideThenRefused() {
		assertRefused(TransactionOutside.class, Transacting.class).withMessageContaining("Bean 'suspect'")
			.withMessageContaining("Transacting.run(")
			.withMessageContaining("fencing.aspect.order");
		assertRefusedWhenLazy(TransactionOutside.class, Transacting.class)
			.withMessageContaining("fencing.aspect.order");
		assertStarts(TransactionInside.class, Transacting.class);
		assertStarts(TransactionOutside.class, Service.class);
	}

	@Test
	void whenRetriesAreInsideOfTheLeaseThenRefusedCase04() {
		assertRefused(RetryInside.class, Retried.class).withMessageContaining("Bean 'suspect'")
			.withMessageContaining("Retried.run(")
			.withMessageContaining("retried inside of one lease");
		assertStarts(RetryOutside.class, Retried.class);
	}

	@Test
	void whenCacheOrValidationIsInsideOfTheLeaseThenTold(CapturedOutput output) {
		start(Caching.class, Cached.class, false).close();
		assertThat(output).contains("Cached.run(").contains("an answer from the cache still takes the lease");
		start(Validating.class, Validated.class, false).close();
		assertThat(output).contains("Validated.run(").contains("arguments that are refused still take the lease");
	}

	@Test
	void whenBeanIsCreatedTooEarlyThenRefusedCase03() {
		assertRefused(EarlyBean.class, Plain.class).withMessageContaining("Bean 'early'")
			.withMessageContaining("Service.run(")
			.withMessageContaining("created early");
	}

	@Test
	void whenBeanIsNotProxiedThenRefused() {
		assertRefused(NoProxying.class, Service.class).withMessageContaining("does not carry the advice");
	}

	@Test
	void whenBeanIsWrappedBeforeItIsProxiedThenRefusedCase46() {
		assertRefused(WrappingInside.class, Service.class).withMessageContaining("does not carry the advice");
		assertRefused(SpringWrappingInside.class, Service.class).withMessageContaining("does not carry the advice");
	}

	@Test
	void whenFencedBeanIsWrappedThenItIsStillFencedCase46() {
		try (AnnotationConfigApplicationContext context = start(WrappingOutside.class, Service.class, false)) {
			((Runnable) context.getBean("suspect")).run();
			assertThat(context.getBean(RecordingOperations.class).resources()).containsExactly("service");
		}
	}

	@Test
	void whenBeanIsScopedThenItsTargetIsVerified() {
		assertRefused(ScopedFinal.class, Plain.class).withMessageContaining("Bean 'scoped'")
			.withMessageContaining("FinalMethod.run(");
		assertStarts(ScopedProxying.class, Plain.class);
	}

	@Test
	void whenCompiledWithoutParameterNamesThenStartFailsCase45(@TempDir Path directory) throws Exception {
		Class<?> byName = compile(directory, "ByName", "account:#{#id}");
		assertRefused(Proxying.class, byName).withMessageContaining("'#id'")
			.withMessageContaining("ByName.run(String)")
			.withMessageContaining("-parameters");
		Class<?> byIndex = compile(directory, "ByIndex", "account:#{#p0}:#{#a0}:#{#root.args[0]}");
		try (AnnotationConfigApplicationContext context = start(Proxying.class, byIndex, false)) {
			Object bean = context.getBean("suspect");
			byIndex.getMethod("run", String.class).invoke(bean, "1");
			assertThat(context.getBean(RecordingOperations.class).resources()).containsExactly("account:1:1:1");
			byIndex.getMethod("run", String.class).invoke(bean, "2");
			assertThatExceptionOfType(Exception.class)
				.isThrownBy(() -> byIndex.getMethod("run", String.class).invoke(bean, (Object) null))
				.havingRootCause()
				.isInstanceOf(InvalidFencedOperationException.class)
				.withMessageContaining("-parameters");
			assertThat(context.getBean(RecordingOperations.class).requests()).hasSize(2);
		}
	}

	@Test
	void whenStartedThenNoBeanMissesAPostProcessorCase38(CapturedOutput output) {
		assertStarts(ManyPostProcessors.class, Transacting.class);
		assertThat(output).doesNotContain("not eligible for getting processed");
	}

	@Test
	void whenBeanIsReplacedByAMockThenStarts() {
		assertStarts(ByHand.class, Service.class);
	}

	@Test
	void whenPlaceholdersAreStrictThenErrorStillNamesBeanAndMethod() {
		assertRefused(StrictPlaceholders.class, UnknownPlaceholder.class).withMessageContaining("Bean 'suspect'")
			.withMessageContaining("UnknownPlaceholder.run(")
			.withMessageContaining("${unknown}");
	}

	@Test
	void whenFactoryMakesTheBeanThenItsTypeIsVerified() {
		assertRefused(Proxying.class, PublishingFactory.class).withMessageContaining("Bean 'suspect'")
			.withMessageContaining("Published.run(");
	}

	@Test
	void whenTwoMethodsShareANameThenAllowed() {
		assertStarts(Proxying.class, SameName.class);
	}

	private void assertStarts(Class<?> configuration, Class<?> bean) {
		start(configuration, bean, false).close();
		start(configuration, bean, true).close();
	}

	private ThrowableAssertAlternative<InvalidFencedOperationException> assertRefused(Class<?> configuration,
			Class<?> bean) {
		return assertRefused(configuration, bean, false);
	}

	private ThrowableAssertAlternative<InvalidFencedOperationException> assertRefusedWhenLazy(Class<?> configuration,
			Class<?> bean) {
		return assertRefused(configuration, bean, true);
	}

	private ThrowableAssertAlternative<InvalidFencedOperationException> assertRefused(Class<?> configuration,
			Class<?> bean, boolean lazy) {
		Throwable failure = catchThrowable(() -> start(configuration, bean, lazy).close());
		assertThat(failure).isNotNull();
		Throwable cause = failure;
		while (!(cause instanceof InvalidFencedOperationException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		Throwable thrown = cause;
		return assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> {
			throw thrown;
		});
	}

	private AnnotationConfigApplicationContext start(Class<?> configuration, Class<?> bean, boolean lazy) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", Map.of("lease", "20s")));
		context.setClassLoader(bean.getClassLoader());
		context.register(AspectConfiguration.class, configuration);
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

	private static Class<?> compile(Path directory, String name, String resource) throws Exception {
		Path source = directory.resolve(name + ".java");
		Files.writeString(source, "public class " + name + " { @io.fencing.FencedOperation(\"" + resource
				+ "\") public void run(String id) { } }");
		int result = ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-cp", System.getProperty("java.class.path"), "-proc:none", source.toString());
		assertThat(result).isZero();
		return new URLClassLoader(new URL[] { directory.toUri().toURL() },
				FencedOperationVerifierTests.class.getClassLoader())
			.loadClass(name);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	static class Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy
	static class InterfaceProxying {

	}

	@Configuration(proxyBeanMethods = false)
	static class NoProxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.LOWEST_PRECEDENCE - 2)
	static class TransactionOutside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class TransactionInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class RetryInside extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(proxyTargetClass = true)
	static class RetryOutside extends Proxying {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching(proxyTargetClass = true)
	static class Caching extends Proxying {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Validating extends Proxying {

		@Bean
		static MethodValidationPostProcessor methodValidation() {
			MethodValidationPostProcessor postProcessor = new MethodValidationPostProcessor();
			postProcessor.setProxyTargetClass(true);
			return postProcessor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyBean extends Proxying {

		@Bean
		static Service early() {
			return new Service();
		}

		@Bean
		static EarlyPostProcessor postProcessor(Service early) {
			return new EarlyPostProcessor();
		}

	}

	static class EarlyPostProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class ManyPostProcessors extends TransactionInside {

		@Bean
		static BeanPostProcessor postProcessor() {
			return new BeanPostProcessor() {
			};
		}

	}

	static class Wrapper implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return !beanName.equals("suspect") ? bean : Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { Runnable.class }, (proxy, method, arguments) -> method.invoke(bean, arguments));
		}

	}

	static class InnerWrapper extends Wrapper implements PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class SpringInnerWrapper extends InnerWrapper {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return !beanName.equals("suspect") ? bean
					: ProxyFactory.getProxy(Runnable.class, new SingletonTargetSource(bean));
		}

	}

	static class WrappingOutside extends Proxying {

		@Bean
		static Wrapper wrapper() {
			return new Wrapper();
		}

	}

	static class WrappingInside extends Proxying {

		@Bean
		static InnerWrapper wrapper() {
			return new InnerWrapper();
		}

	}

	static class SpringWrappingInside extends Proxying {

		@Bean
		static SpringInnerWrapper wrapper() {
			return new SpringInnerWrapper();
		}

	}

	static class ScopedProxying extends Proxying {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Service scoped() {
			return new Service();
		}

	}

	static class ScopedFinal extends Proxying {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		FinalMethod scoped() {
			return new FinalMethod();
		}

	}

	static class ByHand extends Proxying {

		@Bean
		static BeanFactoryPostProcessor mock() {
			return (beanFactory) -> beanFactory.registerSingleton("suspect", new Service());
		}

	}

	static class StrictPlaceholders extends Proxying {

		@Bean
		static PropertySourcesPlaceholderConfigurer placeholders() {
			return new PropertySourcesPlaceholderConfigurer();
		}

	}

	public static class PublishingFactory implements FactoryBean<Published> {

		@Override
		public Published getObject() {
			throw new IllegalStateException("Nobody needs it yet");
		}

		@Override
		public Class<?> getObjectType() {
			return Published.class;
		}

	}

	static class Plain {

	}

	public static class Service implements Runnable {

		@Override
		@FencedOperation("service")
		public void run() {
		}

	}

	public static final class FinalService implements Runnable {

		@Override
		@FencedOperation("service")
		public void run() {
		}

	}

	public static class HiddenMethod implements Runnable {

		@Override
		public void run() {
		}

		@FencedOperation("service")
		public void hidden() {
		}

	}

	public static class Retried {

		@FencedOperation("service")
		@Retryable
		public void run() {
		}

	}

	public static class Cached {

		@FencedOperation("service")
		@Cacheable("answers")
		public String run(String question) {
			return question;
		}

	}

	@org.springframework.validation.annotation.Validated
	public static class Validated {

		@FencedOperation("service")
		public void run(@NotNull String argument) {
		}

	}

	public static class Transacting {

		@FencedOperation("service")
		@Transactional
		public void run() {
		}

	}

	public static class SameName {

		@FencedOperation(resource = "a", name = "shared", leaseTime = "10s")
		public void first() {
		}

		@FencedOperation(resource = "b", name = "shared", leaseTime = "20s")
		public void second() {
		}

	}

	public static class Literal {

		@FencedOperation("account:#id")
		public void run(String id) {
		}

	}

	public static class Blank {

		@FencedOperation("")
		public void run() {
		}

	}

	public static class BadSyntax {

		@FencedOperation("#{#id +}")
		public void run(String id) {
		}

	}

	public static class ShortLease {

		@FencedOperation(resource = "a", leaseTime = "50ms")
		public void run() {
		}

	}

	public static class ShortHold {

		@FencedOperation(resource = "a", maxHold = "29s")
		public void run() {
		}

	}

	public static class LongHold {

		@FencedOperation(resource = "a", maxHold = "7d")
		public void run() {
		}

	}

	public static class PlainProperty {

		@FencedOperation("account:#{id}")
		public void run(String id) {
		}

	}

	public static class NoUnit {

		@FencedOperation(resource = "a", leaseTime = "30")
		public void run() {
		}

	}

	public static class ZeroLease {

		@FencedOperation(resource = "a", leaseTime = "0s")
		public void run() {
		}

	}

	public static class Negative {

		@FencedOperation(resource = "a", waitTime = "-1s")
		public void run() {
		}

	}

	public static class NoDuration {

		@FencedOperation(resource = "a", maxHold = "long")
		public void run() {
		}

	}

	public static class UnknownPlaceholder {

		@FencedOperation(resource = "a", minHold = "${unknown}")
		public void run() {
		}

	}

	public static class DynamicName {

		@FencedOperation(resource = "a", name = "#{#id}")
		public void run(String id) {
		}

	}

	public static class OperationId {

		@FencedOperation(resource = "a", operationId = "#{#id}")
		public void run(String id) {
		}

	}

	public static class Input {

		@FencedOperation(resource = "a", input = "#{#id}")
		public void run(String id) {
		}

	}

	public static class External {

		@FencedOperation(resource = "a", external = true)
		public void run() {
		}

	}

	public static class NotRepeatable {

		@FencedOperation(resource = "a", notRepeatableFor = IllegalStateException.class)
		public void run() {
		}

	}

	public static class Deferred {

		@FencedOperation("a")
		public Future<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	/** A stage of a class of its own, in whose place nothing can be given. */
	public static class OddStage {

		@FencedOperation("a")
		public Odd run() {
			return new Odd();
		}

		public static class Odd extends CompletableFuture<String> {

		}

	}

	public static class Staged {

		@FencedOperation("a")
		public CompletionStage<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	public static class Completing {

		@FencedOperation("a")
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	public static class Published {

		@FencedOperation("a")
		public Flow.Publisher<String> run() {
			return (subscriber) -> {
			};
		}

	}

	public static class Reactive {

		@FencedOperation("a")
		public Mono<String> run() {
			return Mono.just("");
		}

	}

	public static class SkippingPrimitive {

		@FencedOperation(resource = "a", onBusy = OnBusy.SKIP)
		public int run() {
			return 1;
		}

	}

	public static class FinalMethod {

		@FencedOperation("a")
		public final void run() {
		}

	}

	public static final class FinalClass {

		@FencedOperation("a")
		public void run() {
		}

	}

	public static class PrivateMethod {

		@FencedOperation("a")
		private void run() {
		}

	}

	public static class StaticMethod {

		@FencedOperation("a")
		public static void run() {
		}

	}

	@FencedOperation("a")
	public static class FinalOfType {

		public final void run() {
		}

	}

}
