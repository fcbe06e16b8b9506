package io.fencing.access;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.fencing.FencedOperation;
import io.fencing.FencingListener;
import io.fencing.lease.MonotonicClock;
import io.fencing.testing.InMemoryLeaseCoordinator;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * An ordinary application with every way to the database that Boot sets up, and one bean
 * of operations. What is not of its technology is excluded by a property.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class AccessApplication {

	@Bean
	InMemoryLeaseCoordinator leaseCoordinator() {
		InMemoryLeaseCoordinator coordinator = new InMemoryLeaseCoordinator(MonotonicClock.SYSTEM);
		// of its own day, tokens are too old for the databases
		coordinator.setWallClock(Duration.between(Instant.ofEpochSecond(1_700_000_000), Instant.now()));
		return coordinator;
	}

	@Bean
	Operations operations() {
		return new Operations();
	}

	@Bean
	PauseBeforeBegin pauseBeforeBegin() {
		return new PauseBeforeBegin();
	}

	@Bean
	SeenUnfenced seenUnfenced() {
		return new SeenUnfenced();
	}

	@Bean
	@ConditionalOnProperty("access.lazy")
	static BeanPostProcessor lazyDataSource() {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessBeforeInitialization(Object bean, String beanName) {
				return (bean instanceof DataSource dataSource && !(bean instanceof LazyConnectionDataSourceProxy))
						? new LazyConnectionDataSourceProxy(dataSource) : bean;
			}

		};
	}

	/**
	 * Operations on one account, each with what its method says of transactions.
	 */
	static class Operations {

		@FencedOperation(resource = "account:#{#id}", name = "plain")
		<T> T plain(String id, Callable<T> body) throws Exception {
			return body.call();
		}

		@FencedOperation(resource = "account:#{#id}", name = "transactional")
		@Transactional
		<T> T transactional(String id, Callable<T> body) throws Exception {
			return body.call();
		}

		@FencedOperation(resource = "account:#{#id}", name = "requiresNew")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		<T> T requiresNew(String id, Callable<T> body) throws Exception {
			return body.call();
		}

		@FencedOperation(resource = "account:#{#id}", name = "notSupported")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		<T> T notSupported(String id, Callable<T> body) throws Exception {
			return body.call();
		}

	}

	/**
	 * Remembers writes that were told as unfenced.
	 */
	static class SeenUnfenced implements FencingListener {

		private final List<String> storages = new CopyOnWriteArrayList<>();

		@Override
		public void onUnfenced(@Nullable String operation, @Nullable String storage) {
			if (storage != null) {
				this.storages.add(operation + " " + storage);
			}
		}

		List<String> take() {
			List<String> taken = List.copyOf(this.storages);
			this.storages.clear();
			return taken;
		}

	}

	/**
	 * Pauses a thread once, just before it begins a transaction.
	 */
	static class PauseBeforeBegin implements TransactionExecutionListener {

		private final ThreadLocal<Runnable> next = new ThreadLocal<>();

		void set(Runnable pause) {
			this.next.set(pause);
		}

		@Override
		public void beforeBegin(TransactionExecution transaction) {
			Runnable pause = this.next.get();
			if (pause != null) {
				this.next.remove();
				pause.run();
			}
		}

	}

}
