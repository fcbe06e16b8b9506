package io.fencing.benchmarks;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.fencing.FencedOperation;
import io.fencing.FencedResource;
import io.fencing.autoconfigure.FencingAopAutoConfiguration;
import io.fencing.autoconfigure.FencingAutoConfiguration;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * The starter with a coordinator that grants everything at once and no storage, so that
 * nothing is left of a call but what the starter itself does.
 */
@Configuration(proxyBeanMethods = false)
@EnableTransactionManagement
@Import({ FencingAutoConfiguration.class, FencingAopAutoConfiguration.class })
class CallApplication {

	static AnnotationConfigApplicationContext start() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("benchmark", Map.of("fencing.operations.off.mode", "off")));
		context.register(CallApplication.class);
		context.refresh();
		return context;
	}

	@Bean
	Work work() {
		return new Work();
	}

	@Bean
	LeaseCoordinator coordinator() {
		return new GrantingCoordinator();
	}

	@Bean
	PlatformTransactionManager transactionManager() {
		return new EmptyTransactionManager();
	}

	// a proxy whose one interceptor does nothing
	static Work bareProxy() {
		ProxyFactory factory = new ProxyFactory(new Work());
		factory.setProxyTargetClass(true);
		factory.addAdvice((MethodInterceptor) (invocation) -> invocation.proceed());
		return (Work) factory.getProxy();
	}

	/**
	 * What is called.
	 */
	static class Work {

		long bare(long id) {
			return id;
		}

		@Transactional
		long transactional(long id) {
			return id;
		}

		@FencedOperation(resource = "account:#{#p0}", name = "fenced")
		long fenced(long id) {
			return id;
		}

		@FencedOperation(resource = "account", name = "constant")
		long constant(long id) {
			return id;
		}

		@FencedOperation(resource = "account:#{#p0}", name = "off")
		long off(long id) {
			return id;
		}

	}

	/**
	 * Grants everything.
	 */
	static final class GrantingCoordinator implements LeaseCoordinator {

		// tokens carry their time, and storages refuse what is older than they remember
		private final AtomicLong tokens = new AtomicLong(System.currentTimeMillis() * 1000);

		@Override
		public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
			return new LeaseAnswer.Granted(this.tokens.incrementAndGet());
		}

		@Override
		public Renewals renew(Collection<Lease> leases, Duration timeout) {
			return new Renewals(Set.copyOf(leases), Set.of());
		}

		@Override
		public boolean release(Lease lease, Duration keepFor, Duration timeout) {
			return true;
		}

		@Override
		public void lift(FencedResource resource, long token, Duration timeout) {
			this.tokens.accumulateAndGet(token, Math::max);
		}

		@Override
		public ReleaseSubscription subscribe(LeaseRequest request) {
			throw new UnsupportedOperationException("Nobody waits");
		}

	}

	/**
	 * Begins and commits nothing.
	 */
	private static final class EmptyTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
