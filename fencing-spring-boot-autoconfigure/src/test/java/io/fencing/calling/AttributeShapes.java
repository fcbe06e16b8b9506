package io.fencing.calling;

import java.util.List;

import io.fencing.FencedOperation;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.validation.annotation.Validated;
import org.springframework.validation.beanvalidation.MethodValidationPostProcessor;

/**
 * What an operation may say of itself, and what may be around it.
 */
final class AttributeShapes {

	private static final String SECTION = "The annotation, and other advice";

	private AttributeShapes() {
	}

	static List<Shape> list() {
		return List.of(shape("a blank resource", Blank.class), shape("no resource", Missing.class),
				shape("an expression that cannot be parsed", BadSyntax.class),
				shape("an expression without braces", NoBraces.class),
				shape("an unknown parameter", UnknownParameter.class),
				shape("a parameter without `#`", PlainProperty.class),
				shape("a placeholder without a value", UnknownPlaceholder.class),
				shape("a time without its unit", NoUnit.class),
				shape("a lease shorter than three renewals", ShortLease.class),
				shape("`maxHold` above the retention", LongHold.class),
				shape("`fencing.operations.*` makes the lease too short", Short.class)
					.with("fencing.operations.short.lease-time=50ms"),
				shape("`fencing.operations.*` names no operation", Short.class)
					.with("fencing.operations.shorter.lease-time=20s"),
				Shape
					.of(SECTION, "`fencing.operations.*` makes a primitive result skip", Counting.class,
							(bean) -> bean.withdraw("42"), Counting.class)
					.with("fencing.operations.counting.on-busy=skip"),
				shape("an identity without a name", Nameless.class),
				shape("an identity, without a database for the journal", Identity.class),
				shape("`@Retryable`, the retries around the lease", Retried.class, Retries.class),
				shape("`@Retryable`, the retries inside of the lease", Retried.class, RetriesInside.class),
				shape("`@Transactional`, the transaction inside of the lease", PlumbingShapes.Transacting.class,
						CallerShapes.Transactions.class),
				shape("`@Transactional`, the transaction around the lease", PlumbingShapes.Transacting.class,
						TransactionsOutside.class),
				shape("`@Cacheable` (a warning)", Cached.class, Caching.class),
				shape("`@Validated` (a warning)", Valid.class, Validating.class),
				shape("a bean that a BeanPostProcessor needs, created too early", CodeShapes.Plain.class, Early.class));
	}

	private static Shape shape(String name, Class<?> type, Class<?>... components) {
		return new Shape(SECTION, name,
				(runner) -> runner.withUserConfiguration(components).withUserConfiguration(type), (context) -> {
					Object bean = context.getBean(type);
					return (bean instanceof CodeShapes.Accounts accounts) ? accounts.withdraw("42")
							: ((PlumbingShapes.Transacting) bean).withdraw("42");
				});
	}

	static class Blank {

		@FencedOperation(" ")
		void withdraw(String id) {
		}

	}

	static class Missing {

		@FencedOperation
		void withdraw(String id) {
		}

	}

	static class BadSyntax {

		@FencedOperation("account:#{#id +}")
		void withdraw(String id) {
		}

	}

	static class NoBraces {

		@FencedOperation("account:#id")
		void withdraw(String id) {
		}

	}

	static class UnknownParameter {

		@FencedOperation("account:#{#number}")
		void withdraw(String id) {
		}

	}

	static class PlainProperty {

		@FencedOperation("account:#{id}")
		void withdraw(String id) {
		}

	}

	static class UnknownPlaceholder {

		@FencedOperation("${prefix}:#{#id}")
		void withdraw(String id) {
		}

	}

	static class NoUnit {

		@FencedOperation(resource = "account:#{#id}", leaseTime = "30")
		void withdraw(String id) {
		}

	}

	static class ShortLease {

		@FencedOperation(resource = "account:#{#id}", leaseTime = "50ms")
		void withdraw(String id) {
		}

	}

	static class LongHold {

		@FencedOperation(resource = "account:#{#id}", maxHold = "8d")
		void withdraw(String id) {
		}

	}

	static class Short {

		@FencedOperation(resource = "account:#{#id}", name = "short")
		void withdraw(String id) {
		}

	}

	static class Counting {

		@FencedOperation(resource = "account:#{#id}", name = "counting")
		int withdraw(String id) {
			return 1;
		}

	}

	static class Nameless {

		@FencedOperation(resource = "account:#{#id}", operationId = "#{#id}")
		void withdraw(String id) {
		}

	}

	static class Identity {

		@FencedOperation(resource = "account:#{#id}", name = "identified", operationId = "#{#id}")
		void withdraw(String id) {
		}

	}

	public static class Retried implements CodeShapes.Accounts {

		@Override
		@Retryable
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Retries {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(order = Ordered.HIGHEST_PRECEDENCE)
	static class RetriesInside {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class TransactionsOutside {

	}

	public static class Cached implements CodeShapes.Accounts {

		@Override
		@Cacheable("accounts")
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

	}

	@Validated
	public static class Valid extends PlumbingShapes.Transacting {

		@Override
		@FencedOperation("account:#{#id}")
		public String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Validating {

		@Bean
		static MethodValidationPostProcessor validation() {
			MethodValidationPostProcessor postProcessor = new MethodValidationPostProcessor();
			postProcessor.setProxyTargetClass(true);
			return postProcessor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Early {

		@Bean
		static EarlyPostProcessor needing(CodeShapes.Plain accounts) {
			return new EarlyPostProcessor();
		}

	}

	static class EarlyPostProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

}
