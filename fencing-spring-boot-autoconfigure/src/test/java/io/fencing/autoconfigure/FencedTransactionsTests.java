package io.fencing.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis transactions, by themselves and bound to a transaction of a database.
 */
class FencedTransactionsTests extends RedisApplicationTests {

	private final ApplicationContextRunner database = this.runner
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:bound;DB_CLOSE_DELAY=-1");

	private SessionCallback<List<Object>> optimistic() {
		return new SessionCallback<>() {

			@Override
			@SuppressWarnings("unchecked")
			public <K, V> List<Object> execute(RedisOperations<K, V> operations) {
				K key = (K) FencedTransactionsTests.this.key;
				operations.watch(key);
				V read = operations.opsForValue().get(key);
				operations.multi();
				operations.opsForValue().set(key, (V) ((read != null) ? read + "1" : "1"));
				operations.opsForHash().put((K) FencedTransactionsTests.this.prefix.concat("hash"), "read", "" + read);
				return operations.exec();
			}

		};
	}

	@Test
	void whenWatchedAndQueuedThenFenced() {
		this.runner.run((context) -> {
			assertFenced(context, () -> template(context).execute(optimistic()));
			assertFenced(context, () -> template(context).execute(optimistic()));
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("11");
		});
	}

	// case 80
	@Test
	void case80WhenTemplateIsBoundToADatabaseTransactionThenFenced() {
		this.database.run((context) -> {
			StringRedisTemplate bound = new StringRedisTemplate(context.getBean(RedisConnectionFactory.class));
			bound.setEnableTransactionSupport(true);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertFenced(context, () -> transaction.executeWithoutResult((status) -> {
				String read = bound.opsForValue().get(this.key);
				bound.opsForValue().set(this.key, read + "1");
				bound.opsForList().rightPush(this.prefix + "list", "x");
			}));
			// what is rolled back is discarded, and the connection is as good as before
			call(context, () -> transaction.execute((status) -> {
				bound.opsForValue().set(this.key, "rolled back");
				status.setRollbackOnly();
				return true;
			}));
			assertThat(template(context).opsForValue().get(this.key)).isEqualTo("null1");
			assertFenced(context, () -> bound.opsForValue().increment(this.prefix + "outside"));
		});
	}

}
