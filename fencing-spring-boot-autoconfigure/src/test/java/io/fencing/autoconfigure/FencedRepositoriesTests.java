package io.fencing.autoconfigure;

import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.redis.core.RedisHash;
import org.springframework.data.redis.core.RedisKeyValueAdapter.EnableKeyspaceEvents;
import org.springframework.data.redis.core.TimeToLive;
import org.springframework.data.redis.core.index.Indexed;
import org.springframework.data.redis.repository.configuration.EnableRedisRepositories;
import org.springframework.data.repository.CrudRepository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Data Redis repositories, whose entities consist of several keys.
 */
class FencedRepositoriesTests extends RedisApplicationTests {

	private static final String KEYSPACE = "app:accounts";

	@Override
	Map<String, String> stored() {
		return stored(KEYSPACE);
	}

	@AfterEach
	void deleteAccounts() {
		stored().keySet().forEach((one) -> console().send("DEL " + one));
	}

	private void assertRepositoryIsFenced(AssertableApplicationContext context) throws Exception {
		Accounts accounts = context.getBean(Accounts.class);
		assertFenced(context, () -> accounts.save(new Account("1", "ada", 10, -1)));
		assertFenced(context, () -> accounts.save(new Account("2", "ada", 20, 3600)));
		// the old index entry goes, a new one comes
		assertFenced(context, () -> {
			Account found = accounts.findById("2").orElseThrow();
			accounts.save(new Account("2", "grace", found.balance() + 1, 3600));
		});
		assertThat(accounts.findByOwner("ada")).extracting(Account::id).containsExactly("1");
		assertThat(call(context, () -> accounts.findByOwner("grace"))).extracting(Account::balance)
			.containsExactly(21L);
		assertThat(call(context, accounts::count)).isEqualTo(2);
		assertFenced(context, () -> accounts.deleteById("2"));
		assertThat(accounts.findByOwner("grace")).isEmpty();
		assertFenced(context, accounts::deleteAll);
		assertThat(accounts.count()).isZero();
	}

	@Test
	void whenEntitiesAreSavedFoundAndDeletedThenFenced() {
		this.runner.withUserConfiguration(Repositories.class)
			.run((ContextConsumer<AssertableApplicationContext>) this::assertRepositoryIsFenced);
	}

	@Test
	void whenKeyspaceEventsAreListenedToThenFencedTheSame() {
		this.runner.withUserConfiguration(ListeningRepositories.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertRepositoryIsFenced(context);
		});
	}

	/** With an index and a time to live. */
	@RedisHash(KEYSPACE)
	record Account(@Id String id, @Indexed String owner, long balance, @TimeToLive long seconds) {
	}

	/** The repository. */
	interface Accounts extends CrudRepository<Account, String> {

		Iterable<Account> findByOwner(String owner);

	}

	/** Plain repositories. */
	@Configuration(proxyBeanMethods = false)
	@EnableRedisRepositories(considerNestedRepositories = true, basePackageClasses = FencedRepositoriesTests.class)
	static class Repositories {

	}

	/** Repositories that clean up what has expired. */
	@Configuration(proxyBeanMethods = false)
	@EnableRedisRepositories(considerNestedRepositories = true, basePackageClasses = FencedRepositoriesTests.class,
			enableKeyspaceEvents = EnableKeyspaceEvents.ON_STARTUP)
	static class ListeningRepositories {

	}

}
