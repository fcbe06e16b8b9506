package io.fencing.calling;

import java.time.Duration;
import java.util.List;

import io.fencing.FencedOperation;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.data.annotation.Id;
import org.springframework.data.keyvalue.repository.KeyValueRepository;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.awaitility.Awaitility.await;

/**
 * Who may call an operation, other than the application's own code.
 */
final class CallerShapes {

	private static final String SECTION = "The caller";

	private CallerShapes() {
	}

	static List<Shape> list() {
		return List.of(
				new Shape(SECTION, "@EventListener", (runner) -> runner.withUserConfiguration(Listening.class),
						CallerShapes::publish),
				new Shape(SECTION, "ApplicationListener", (runner) -> runner.withUserConfiguration(Started.class),
						(context) -> null),
				new Shape(SECTION, "@TransactionalEventListener after the commit",
						(runner) -> runner.withUserConfiguration(AfterCommit.class, Transactions.class),
						CallerShapes::publishInTransaction),
				new Shape(SECTION, "@Scheduled, public", (runner) -> runner.withUserConfiguration(Scheduling.class),
						CallerShapes::awaitCall),
				new Shape(SECTION, "@Scheduled, package-private",
						(runner) -> runner.withUserConfiguration(SchedulingInPackage.class), CallerShapes::awaitCall),
				new Shape(SECTION, "@Scheduled, private",
						(runner) -> runner.withUserConfiguration(SchedulingPrivately.class), CallerShapes::awaitCall),
				new Shape(SECTION, "afterSingletonsInstantiated()",
						(runner) -> runner.withUserConfiguration(Instantiated.class), (context) -> null),
				new Shape(SECTION, "start() of a SmartLifecycle",
						(runner) -> runner.withUserConfiguration(Lifecycle.class), (context) -> null),
				new Shape(SECTION, "ApplicationRunner", (runner) -> runner.withUserConfiguration(Running.class),
						CallerShapes::run),
				Shape.of(SECTION, "a @Controller", Web.class, (bean) -> bean.withdraw("42"), Web.class),
				Shape.of(SECTION, "a method of a Spring Data repository, own and query", Items.class,
						(bean) -> bean.findByName("42"), Repositories.class),
				Shape.of(SECTION, "a method of a Spring Data repository, redeclared", Items.class,
						(bean) -> bean.count(), Repositories.class));
	}

	private static Object publish(ApplicationContext context) {
		context.publishEvent("42");
		return null;
	}

	private static Object publishInTransaction(ApplicationContext context) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> context.publishEvent("42"));
		return null;
	}

	private static Object awaitCall(ApplicationContext context) {
		await().atMost(Duration.ofSeconds(10)).until(() -> Seen.last() != null);
		return null;
	}

	private static Object run(ApplicationContext context) {
		try {
			context.getBean(ApplicationRunner.class).run(null);
			return null;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Listening {

		@EventListener
		@FencedOperation("account:#{#id}")
		void on(String id) {
			Seen.record();
		}

	}

	static class Started implements ApplicationListener<ContextRefreshedEvent> {

		@Override
		@FencedOperation("account:42")
		public void onApplicationEvent(ContextRefreshedEvent event) {
			Seen.record();
		}

	}

	static class AfterCommit {

		@TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
		@FencedOperation("account:#{#id}")
		void on(String id) {
			Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

		@Bean
		PlatformTransactionManager transactionManager() {
			return new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:"));
		}

	}

	@EnableScheduling
	public static class Scheduling {

		@Scheduled(initialDelay = 0, fixedDelay = Long.MAX_VALUE / 1_000_000)
		@FencedOperation("account:42")
		public void run() {
			Seen.record();
		}

	}

	@EnableScheduling
	static class SchedulingInPackage {

		@Scheduled(initialDelay = 0, fixedDelay = Long.MAX_VALUE / 1_000_000)
		@FencedOperation("account:42")
		void run() {
			Seen.record();
		}

	}

	@EnableScheduling
	static class SchedulingPrivately {

		@Scheduled(initialDelay = 0, fixedDelay = Long.MAX_VALUE / 1_000_000)
		@FencedOperation("account:42")
		private void run() {
			Seen.record();
		}

	}

	static class Instantiated implements SmartInitializingSingleton {

		@Override
		@FencedOperation("account:42")
		public void afterSingletonsInstantiated() {
			Seen.record();
		}

	}

	static class Lifecycle implements SmartLifecycle {

		@Override
		@FencedOperation("account:42")
		public void start() {
			Seen.record();
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

	}

	static class Running implements ApplicationRunner {

		@Override
		@FencedOperation("account:42")
		public void run(ApplicationArguments arguments) {
			Seen.record();
		}

	}

	@Controller
	static class Web {

		@FencedOperation("account:#{#id}")
		String withdraw(String id) {
			return Seen.record();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMapRepositories(considerNestedRepositories = true, basePackageClasses = CallerShapes.class)
	static class Repositories {

	}

	public record Item(@Id String id, String name) {
	}

	public interface Items extends KeyValueRepository<Item, String> {

		@FencedOperation("account:#{#name}")
		List<Item> findByName(String name);

		@Override
		@FencedOperation("account:42")
		long count();

	}

}
