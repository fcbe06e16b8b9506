package io.fencing.autoconfigure;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.fencing.FencedOperation;
import io.fencing.OnBusy;
import io.fencing.testing.ParentJvm;
import org.mybatis.spring.boot.autoconfigure.MybatisAutoConfiguration;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jdbc.autoconfigure.DataJdbcRepositoriesAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application that is stopped while it works. As a second JVM it runs one job, which
 * goes on for a while.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableScheduling
@EnableAutoConfiguration(exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class,
		DataJdbcRepositoriesAutoConfiguration.class, JooqAutoConfiguration.class, MybatisAutoConfiguration.class })
public class StoppingApplication {

	/**
	 * Start it as a second JVM.
	 * @param properties for how many milliseconds the job works, and properties
	 */
	public static void main(String[] properties) {
		ParentJvm parent = ParentJvm.connect();
		SpringApplication application = application();
		application.addInitializers(
				(starting) -> starting.addBeanFactoryPostProcessor((beanFactory) -> parent.send("starting")));
		ConfigurableApplicationContext context = application
			.run(Arrays.stream(properties).skip(1).map("--"::concat).toArray(String[]::new));
		Jobs jobs = context.getBean(Jobs.class);
		long millis = Long.parseLong(properties[0]);
		context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class).execute(() -> {
			try {
				jobs.run("job", () -> {
					parent.send("working");
					return new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
				});
				parent.send("done");
			}
			catch (Exception ex) {
				parent.send("refused " + ex.getClass().getSimpleName());
			}
		});
	}

	/**
	 * Start it.
	 * @param properties its properties
	 * @return the running context
	 */
	static ConfigurableApplicationContext start(String... properties) {
		return application().run(Arrays.stream(properties).map("--"::concat).toArray(String[]::new));
	}

	private static SpringApplication application() {
		SpringApplication application = new SpringApplication(StoppingApplication.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		application.setDefaultProperties(Map.of("fencing.jdbc.initialize-schema", "always", "spring.main.banner-mode",
				"off", "spring.flyway.enabled", "false", "spring.liquibase.enabled", "false"));
		return application;
	}

	@Bean
	Jobs jobs(JdbcTemplate jdbcTemplate, StringRedisTemplate redis, FencingProperties properties) {
		return new Jobs(jdbcTemplate, redis, properties.coordinator().keyPrefix());
	}

	/**
	 * Fenced operations that write into a table and into Redis.
	 */
	public static class Jobs {

		private final JdbcTemplate jdbcTemplate;

		private final StringRedisTemplate redis;

		private final String prefix;

		private final AtomicInteger ticks = new AtomicInteger();

		Jobs(JdbcTemplate jdbcTemplate, StringRedisTemplate redis, String prefix) {
			this.jdbcTemplate = jdbcTemplate;
			this.redis = redis;
			this.prefix = prefix;
			jdbcTemplate.execute("CREATE TABLE IF NOT EXISTS done (name VARCHAR(50))");
		}

		/**
		 * Do something, and write after it.
		 */
		@FencedOperation(resource = "job:#{#name}", name = "job", waitTime = "10s")
		public void run(String name, Callable<?> work) throws Exception {
			work.call();
			write(name);
		}

		/**
		 * Do something, and write into Redis after it.
		 */
		@FencedOperation(resource = "job:#{#name}", name = "cached", waitTime = "10s")
		public void runCached(String name, Callable<?> work) throws Exception {
			work.call();
			this.redis.opsForValue().set(this.prefix + ":written", name);
		}

		/**
		 * Write in no operation.
		 */
		public void write(String name) {
			this.jdbcTemplate.update("INSERT INTO done VALUES (?)", name);
		}

		/**
		 * Do something from time to time.
		 */
		@Scheduled(fixedDelay = 5)
		@FencedOperation(resource = "tick", name = "tick", onBusy = OnBusy.SKIP)
		public void tick() {
			this.ticks.incrementAndGet();
		}

		int getTicks() {
			return this.ticks.get();
		}

	}

}
