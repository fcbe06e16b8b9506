package io.fencing.aop;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

import io.fencing.FencedOperation;
import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.aspectj.annotation.AspectJProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Where the annotation is found, and what a call of such a method becomes.
 */
class FencedOperationAspectTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void whenClassIsProxiedThenCallBecomesRequest() {
		Accounts accounts = start(Proxying.class, Accounts.class).getBean(Accounts.class);
		assertThat(AopUtils.isCglibProxy(accounts)).isTrue();
		assertThat(accounts.withdraw("42")).isEqualTo("done 42");
		assertThat(operations().last().name()).isEqualTo("Accounts.withdraw");
		assertThat(operations().resources()).containsExactly("account:42");
		assertThat(operations().last().leaseTime()).isNull();
		assertThat(operations().last().renew()).isNull();
		assertThat(operations().last().onBusy()).isNull();
		assertThat(operations().last().ownTransaction()).isFalse();
	}

	@Test
	void whenAttributesAreSetThenRequestHasThem() {
		start(Proxying.class, Accounts.class).getBean(Accounts.class).configured("42");
		assertThat(operations().last().name()).isEqualTo("configured");
		assertThat(operations().last().leaseTime()).isEqualTo(Duration.ofSeconds(20));
		assertThat(operations().last().waitTime()).isZero();
		assertThat(operations().last().maxHold()).isEqualTo(Duration.ofMinutes(2));
		assertThat(operations().last().minHold()).isEqualTo(Duration.ofMillis(500));
		assertThat(operations().last().renew()).isFalse();
		assertThat(operations().last().onBusy()).isEqualTo(OnBusy.SKIP);
	}

	@Test
	void whenInterfaceIsAnnotatedThenItsJdkProxyIsFenced() {
		Payments payments = start(InterfaceProxying.class, DefaultPayments.class).getBean(Payments.class);
		assertThat(AopUtils.isJdkDynamicProxy(payments)).isTrue();
		payments.pay("7");
		assertThat(operations().last().name()).isEqualTo("DefaultPayments.pay");
		assertThat(operations().resources()).containsExactly("payment:7");
		payments.plain();
		assertThat(operations().requests()).hasSize(1);
	}

	@Test
	void whenInterfaceIsAnnotatedThenItsClassProxyIsFenced() {
		start(Proxying.class, DefaultPayments.class).getBean(DefaultPayments.class).pay("7");
		assertThat(operations().resources()).containsExactly("payment:7");
	}

	@Test
	void whenClassIsAnnotatedThenItsPublicMethodsAreFencedAndAMethodsOwnWins() {
		Ledger ledger = start(Proxying.class, Ledger.class).getBean(Ledger.class);
		ledger.open();
		assertThat(operations().last().name()).isEqualTo("Ledger.open");
		assertThat(operations().resources()).containsExactly("ledger");
		ledger.close();
		assertThat(operations().resources()).containsExactly("closing");
		ledger.internal();
		assertThat(ledger.toString()).isEqualTo("the ledger");
		assertThat(operations().requests()).hasSize(2);
	}

	@Test
	void whenAnnotatedMethodIsOverriddenThenTheNearestAnnotationCounts() {
		start(Proxying.class, Overriding.class, Inheriting.class);
		this.context.getBean(Overriding.class).withdraw("1");
		assertThat(operations().resources()).containsExactly("other:1");
		assertThat(operations().last().name()).isEqualTo("Overriding.withdraw");
		this.context.getBean(Inheriting.class).withdraw("2");
		assertThat(operations().resources()).containsExactly("account:2");
		assertThat(operations().last().name()).isEqualTo("Inheriting.withdraw");
	}

	@Test
	void whenMetaAnnotatedThenAttributesAreMerged() {
		start(Proxying.class, Jobs.class).getBean(Jobs.class).nightly();
		assertThat(operations().resources()).containsExactly("job:nightly");
		assertThat(operations().last().onBusy()).isEqualTo(OnBusy.SKIP);
	}

	@Test
	void whenCalledThroughAGenericInterfaceThenFencedOnce() {
		Handler<String> handler = start(Proxying.class, TextHandler.class).getBean(TextHandler.class);
		assertThat(handler.handle("x")).isEqualTo("handled x");
		assertThat(operations().requests()).hasSize(1);
		assertThat(operations().resources()).containsExactly("text:x");
	}

	@Test
	void whenBodyThrowsThenExceptionPassesUnchanged() {
		Accounts accounts = start(Proxying.class, Accounts.class).getBean(Accounts.class);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> accounts.fail(new IOException("checked")))
			.withMessage("checked");
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> accounts.fail(new StackOverflowError()));
		Throwable other = new Throwable("neither");
		assertThatExceptionOfType(Throwable.class).isThrownBy(() -> accounts.fail(other)).isSameAs(other);
	}

	@Test
	void whenSkippedThenThereIsAnEmptyResult() {
		Jobs jobs = start(Proxying.class, Jobs.class).getBean(Jobs.class);
		assertThat(jobs.optional()).isNull();
		operations().setBusy();
		assertThat(jobs.optional()).isEmpty();
		assertThat(jobs.optionalInt()).isEmpty();
		assertThat(jobs.text()).isNull();
		jobs.nightly();
		assertThat(jobs.ran()).isEqualTo(1);
	}

	@Test
	void whenApplicationSettingsSkipAPrimitiveResultThenRefused() {
		Accounts accounts = start(Proxying.class, Accounts.class).getBean(Accounts.class);
		operations().setBusy();
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> accounts.count("1"))
			.withMessageContaining("count(String)")
			.withMessageContaining("fencing.operations.Accounts.count");
	}

	@Test
	void whenMethodLeavesTheCallersTransactionThenRequestSaysSo() {
		Transfers transfers = start(Transacting.class, Transfers.class).getBean(Transfers.class);
		transfers.requiresNew();
		assertThat(operations().last().ownTransaction()).isTrue();
		transfers.notSupported();
		assertThat(operations().last().ownTransaction()).isTrue();
		transfers.required();
		assertThat(operations().last().ownTransaction()).isFalse();
	}

	@Test
	void whenThereAreSeveralTransactionManagersThenAMethodLeavesItsOwnOnly() {
		this.context.registerBean("otherManager", JdbcTransactionManager.class,
				() -> new JdbcTransactionManager(TestServers.newH2()), (definition) -> {
					definition.setFallback(true);
					((AbstractBeanDefinition) definition)
						.addQualifier(new AutowireCandidateQualifier(Qualifier.class, "other"));
				});
		Transfers transfers = start(Transacting.class, Transfers.class).getBean(Transfers.class);
		transfers.requiresNew();
		assertThat(operations().last().runsOutside("transactionManager"::equals)).isTrue();
		assertThat(operations().last().runsOutside("otherManager"::equals)).isFalse();
		transfers.requiresNewOfOther();
		assertThat(operations().last().runsOutside("transactionManager"::equals)).isFalse();
		assertThat(operations().last().runsOutside("otherManager"::equals)).isTrue();
	}

	@Test
	void whenDefaultManagerCannotBeToldThenNoMethodLeavesIt() {
		this.context.registerBean("otherManager", JdbcTransactionManager.class,
				() -> new JdbcTransactionManager(TestServers.newH2()), (definition) -> definition.setFallback(true));
		this.context.registerBean(TransactionManagementConfigurer.class,
				() -> () -> this.context.getBean("otherManager", TransactionManager.class));
		Transfers transfers = start(Transacting.class, Transfers.class).getBean(Transfers.class);
		transfers.requiresNew();
		assertThat(operations().last().ownTransaction()).isFalse();
	}

	@Test
	void whenTransactionalThenTransactionRunsInsideCase01() {
		start(Transacting.class, Transfers.class).getBean(Transfers.class).required();
		assertThat(operations().transactionActive).isFalse();
		assertThat(this.context.getBean(Transfers.class).sawTransaction()).isTrue();
	}

	@Test
	void whenRetriedThenEachAttemptIsACallOfItsOwnCase04() {
		start(Retrying.class, Transfers.class).getBean(Transfers.class).retried();
		assertThat(operations().requests()).hasSize(2);
	}

	@Test
	void whenWovenThenCallBecomesTheSameRequest() throws Exception {
		GenericApplicationContext plain = start(Proxying.class);
		AspectJProxyFactory factory = new AspectJProxyFactory(new Accounts());
		factory.setProxyTargetClass(true);
		factory.addAspect(plain.getBean(FencedOperationAdvisor.class).getAdvice());
		Accounts accounts = factory.getProxy();
		assertThat(accounts.withdraw("42")).isEqualTo("done 42");
		assertThat(operations().requests()).hasSize(1);
		assertThat(operations().resources()).containsExactly("account:42");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> accounts.fail(new IOException("checked")));
	}

	@Test
	void whenAspectIsHeldByItsAdvisorThenItIsNoBeanAndAppliedOnce() {
		start(Proxying.class, Accounts.class).getBean(Accounts.class).withdraw("1");
		assertThat(this.context.getBeanNamesForType(FencedOperationAspect.class)).isEmpty();
		assertThat(operations().requests()).hasSize(1);
	}

	@Test
	void whenMethodWasLookedUpThenBothAnswersAreKept() throws Exception {
		FencedOperationSource source = new FencedOperationSource(this.context.getBeanFactory());
		var fenced = Accounts.class.getDeclaredMethod("withdraw", String.class);
		assertThat(source.getFencedMethod(fenced, Accounts.class))
			.isSameAs(source.getFencedMethod(fenced, Accounts.class));
		assertThat(source.getMetadata(fenced, Accounts.class)).isSameAs(source.getMetadata(fenced, Accounts.class));
		var plain = Payments.class.getDeclaredMethod("plain");
		assertThat(source.getMetadata(plain, DefaultPayments.class)).isNull();
		assertThat(source.isFenced(plain, DefaultPayments.class)).isFalse();
	}

	private AnnotationConfigApplicationContext start(Class<?>... components) {
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("lease", "20s")));
		this.context.register(AspectConfiguration.class);
		this.context.register(components);
		this.context.refresh();
		return this.context;
	}

	private RecordingOperations operations() {
		return this.context.getBean(RecordingOperations.class);
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
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	@EnableTransactionManagement
	static class Transacting {

		@Bean
		PlatformTransactionManager transactionManager() {
			return new FlagTransactionManager();
		}

	}

	@EnableResilientMethods
	static class Retrying extends Transacting {

	}

	static class FlagTransactionManager implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			TransactionSynchronizationManager.setActualTransactionActive(true);
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
			TransactionSynchronizationManager.setActualTransactionActive(false);
		}

		@Override
		public void rollback(TransactionStatus status) {
			TransactionSynchronizationManager.setActualTransactionActive(false);
		}

	}

	public static class Accounts {

		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return "done " + id;
		}

		@FencedOperation(resource = "account:#{#id}", name = "configured", leaseTime = "${lease}", waitTime = "0s",
				maxHold = "PT2M", minHold = "500ms", renew = false, onBusy = OnBusy.SKIP)
		public void configured(String id) {
		}

		@FencedOperation("account:all")
		public void fail(Throwable throwable) throws Throwable {
			throw throwable;
		}

		@FencedOperation("account:#{#id}")
		public int count(String id) {
			return 1;
		}

	}

	static class Overriding extends Accounts {

		@Override
		@FencedOperation("other:#{#id}")
		public String withdraw(String id) {
			return id;
		}

	}

	static class Inheriting extends Accounts {

		@Override
		public String withdraw(String id) {
			return id;
		}

	}

	interface Payments {

		@FencedOperation("payment:#{#id}")
		void pay(String id);

		void plain();

	}

	static class DefaultPayments implements Payments {

		@Override
		public void pay(String id) {
		}

		@Override
		public void plain() {
		}

	}

	@FencedOperation("ledger")
	public static class Ledger {

		public void open() {
		}

		@FencedOperation("closing")
		public void close() {
		}

		void internal() {
		}

		@Override
		public String toString() {
			return "the ledger";
		}

	}

	interface Handler<T> {

		String handle(T input);

	}

	static class TextHandler implements Handler<String> {

		@Override
		@FencedOperation("text:#{#input}")
		public String handle(String input) {
			return "handled " + input;
		}

	}

	@FencedOperation(onBusy = OnBusy.SKIP)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Once {

		@AliasFor(annotation = FencedOperation.class, attribute = "resource")
		String job();

	}

	public static class Jobs {

		private int ran;

		int ran() {
			return this.ran;
		}

		@Once(job = "job:nightly")
		public void nightly() {
			this.ran++;
		}

		@Once(job = "job:optional")
		public Optional<String> optional() {
			this.ran++;
			return null;
		}

		@Once(job = "job:int")
		public OptionalInt optionalInt() {
			this.ran++;
			return OptionalInt.of(1);
		}

		@Once(job = "job:text")
		public String text() {
			this.ran++;
			return "text";
		}

	}

	public static class Transfers {

		private boolean transactionActive;

		private int attempts;

		boolean sawTransaction() {
			return this.transactionActive;
		}

		@FencedOperation("transfer")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void requiresNew() {
		}

		@FencedOperation("transfer")
		@Transactional(transactionManager = "other", propagation = Propagation.REQUIRES_NEW)
		public void requiresNewOfOther() {
		}

		@FencedOperation("transfer")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void notSupported() {
		}

		@FencedOperation("transfer")
		@Transactional
		public void required() {
			this.transactionActive = TransactionSynchronizationManager.isActualTransactionActive();
		}

		@FencedOperation("transfer")
		@Transactional
		@Retryable(maxRetries = 1, delay = 0)
		public void retried() {
			if (this.attempts++ == 0) {
				throw new IllegalStateException("first attempt");
			}
		}

	}

}
