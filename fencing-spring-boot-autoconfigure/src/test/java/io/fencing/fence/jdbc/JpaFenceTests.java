package io.fencing.fence.jdbc;

import java.util.Properties;

import javax.sql.DataSource;

import io.fencing.FencingException;
import io.fencing.InvalidFencedOperationException;
import io.fencing.StaleTokenException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Persistence contexts remember what they have read: an operation must not start with
 * such memories, and JPA transactions hold like others.
 */
abstract class JpaFenceTests {

	private static final String RESOURCE = "account:a";

	private FencedDatabase database;

	private LocalContainerEntityManagerFactoryBean factoryBean;

	private EntityManagerFactory factory;

	private EntityManager shared;

	private TransactionTemplate transaction;

	abstract DataSource newDataSource();

	@BeforeEach
	void createFactory() {
		this.database = FencedDatabase.create(newDataSource());
		this.factoryBean = new LocalContainerEntityManagerFactoryBean();
		this.factoryBean.setDataSource(this.database.dataSource);
		this.factoryBean.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
		this.factoryBean.setPackagesToScan(getClass().getPackageName());
		this.factoryBean.setJpaProperties(new Properties());
		this.factoryBean.afterPropertiesSet();
		this.factory = this.factoryBean.getObject();
		this.shared = SharedEntityManagerCreator.createSharedEntityManager(this.factory);
		JpaTransactionManager manager = new JpaTransactionManager(this.factory);
		manager.afterPropertiesSet();
		this.transaction = new TransactionTemplate(this.database.manage(manager));
	}

	@AfterEach
	void closeFactory() {
		this.factoryBean.destroy();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	private void add() {
		this.transaction.executeWithoutResult((status) -> {
			Account account = this.shared.find(Account.class, "a");
			account.balance++;
		});
	}

	private void bound(Operations.Step step) throws Exception {
		EntityManager entityManager = this.factory.createEntityManager();
		TransactionSynchronizationManager.bindResource(this.factory, new EntityManagerHolder(entityManager));
		try {
			step.run();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(this.factory);
			entityManager.close();
		}
	}

	@Test
	void whenTransactionIsJpaThenItHolds() throws Exception {
		this.database.operations.run(this::add, TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isOne();
		assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> this.database.operations.run(() -> {
			this.database.takeOver(RESOURCE);
			add();
		}, TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void whenTemplateRunsInAJpaTransactionThenItIsHeldByIt() throws Exception {
		this.database.operations.run(() -> this.transaction.executeWithoutResult((status) -> {
			this.shared.find(Account.class, "b").balance = 7;
			this.database.write(3);
		}), TestHeld.next(RESOURCE));
		assertThat(this.database.balance()).isEqualTo(3);
	}

	@Test
	void case65WhenBoundPersistenceContextManagesEntitiesThenRefusedWithTheRemedy() throws Exception {
		bound(() -> {
			this.shared.find(Account.class, "a");
			this.database.takeOver(RESOURCE);
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.database.operations.run(this::add, TestHeld.next(RESOURCE)))
				.withMessageContaining("spring.jpa.open-in-view=false");
		});
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case65WhenBoundPersistenceContextKeepsAConnectionThenRefused() throws Exception {
		bound(() -> {
			this.shared.createNativeQuery("SELECT 1").getSingleResult();
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.database.operations.run(this::add, TestHeld.next(RESOURCE)));
		});
	}

	@Test
	void case65WhenBoundPersistenceContextIsEmptyThenItIsKept() throws Exception {
		bound(() -> {
			this.database.operations.run(() -> {
				add();
				// the entity is still managed by the context of the request
				assertThat(this.shared.contains(this.shared.find(Account.class, "a"))).isTrue();
			}, TestHeld.next(RESOURCE));
		});
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case87WhenCallersTransactionHasLoadedTheEntityThenRefused() {
		this.transaction.executeWithoutResult((outer) -> {
			this.shared.find(Account.class, "a");
			this.database.takeOver(RESOURCE);
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> this.database.operations.run(this::add, TestHeld.next(RESOURCE)))
				.withMessageContaining("REQUIRES_NEW");
			JdbcFenceTests.unchecked(() -> this.database.operations.callInOwnTransaction(() -> {
				TransactionTemplate own = new TransactionTemplate(this.transaction.getTransactionManager());
				own.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);
				own.executeWithoutResult((inner) -> this.shared.find(Account.class, "a").balance++);
				return true;
			}, TestHeld.next(RESOURCE)));
		});
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void whenCallersTransactionIsEmptyThenJoined() {
		this.transaction.executeWithoutResult((outer) -> {
			this.database.takeOver(RESOURCE);
			JdbcFenceTests.unchecked(() -> this.database.operations.run(this::add, TestHeld.next(RESOURCE)));
		});
		assertThat(this.database.balance()).isEqualTo(2);
	}

	@Test
	void whenAnotherManagerEndsTheTransactionOnItsConnectionThenRefusedAtCommit() {
		assertThatExceptionOfType(FencingException.class)
			.isThrownBy(() -> this.database.operations.run(() -> this.transaction.executeWithoutResult((status) -> {
				Account account = this.shared.find(Account.class, "a");
				this.database.transaction().executeWithoutResult((inner) -> this.database.jdbc.execute("SELECT 1"));
				assertThat(this.database.takeOver(RESOURCE)).isTrue();
				account.balance++;
			}), TestHeld.next(RESOURCE)));
		assertThat(this.database.balance()).isOne();
	}

	@Test
	void case77WhenDialectShowsNoConnectionThenRefused() {
		JpaTransactionManager manager = new JpaTransactionManager(this.factory);
		manager.afterPropertiesSet();
		manager.setJpaDialect(new HibernateJpaDialect() {

			@Override
			@SuppressWarnings("NullAway")
			public org.springframework.jdbc.datasource.ConnectionHandle getJdbcConnection(EntityManager entityManager,
					boolean readOnly) {
				return null;
			}

		});
		TransactionTemplate hidden = new TransactionTemplate(this.database.manage(manager));
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> this.database.operations.run(
				() -> hidden.executeWithoutResult((status) -> this.shared.find(Account.class, "a").balance++),
				TestHeld.next(RESOURCE)))
			.withMessageContaining("exposes no JDBC connection");
		hidden.executeWithoutResult((status) -> assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> this.database.operations.run(this::add, TestHeld.next(RESOURCE))));
		assertThat(this.database.balance()).isZero();
	}

	/**
	 * An account as an entity.
	 */
	@Entity
	@Table(name = "account")
	static class Account {

		@Id
		String id;

		int balance;

	}

}
