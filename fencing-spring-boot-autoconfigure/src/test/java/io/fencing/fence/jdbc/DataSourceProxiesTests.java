package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.FencingException;
import io.fencing.RejectionReason;
import io.fencing.StaleTokenException;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What stands in front of a DataSource: proxies that only one of transaction manager and
 * template has, routing, and pools without auto-commit.
 */
class DataSourceProxiesTests {

	private static final String RESOURCE = "account:a";

	private static final String WRITE = "UPDATE account SET balance = balance + 1 WHERE id = 'a'";

	private static final JdbcFenceSettings SETTINGS = FencedDatabase.settings(UnfencedWrites.ALLOW,
			JoinedTransactions.SAFE, Duration.ofMillis(300));

	@ParameterizedTest
	@EnumSource
	void whenOnlyTheManagerOrTheTemplateHasTheProxyThenWritesAreRefusedAndReadsPass(Kind kind) throws Exception {
		DataSource target = TestServers.newH2();
		DataSource proxy = kind.wrap.apply(target);
		FencedDatabase.create(target);
		for (DataSource[] pair : new DataSource[][] { { proxy, target }, { target, proxy } }) {
			FencedDatabase database = FencedDatabase.create(pair[0]);
			JdbcTemplate template = database.wrap(new JdbcTemplate(pair[1]));
			database.operations.run(() -> assertThat(FencedDatabase.read(template)).isZero(), TestHeld.next(RESOURCE));
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> database.operations.run(() -> template.update(WRITE), TestHeld.next(RESOURCE)))
				.withMessageContaining("another DataSource object");
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> database.operations.run(
					() -> database.transaction().executeWithoutResult((status) -> template.update(WRITE)),
					TestHeld.next(RESOURCE)));
			assertThat(database.balance()).isZero();
		}
	}

	@Test
	void whenManagerHasTheObjectBehindTheBeanThenTemplateOfTheBeanJoinsItsTransaction() throws Exception {
		DataSource target = TestServers.newH2();
		FencedDatabase database = FencedDatabase.create(target);
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setDataSource(target);
			DataSource bean = (DataSource) new FencedDataSourcePostProcessor(() -> database.fences)
				.postProcessAfterInitialization(pool, "dataSource");
			assertThat(bean).isNotSameAs(pool).isInstanceOf(HikariDataSource.class);
			assertThat(ManagedDataSources.unwrap(bean)).isSameAs(pool);
			JdbcTemplate template = new JdbcTemplate(bean);
			new TransactionTemplate(new JdbcTransactionManager(pool)).executeWithoutResult((status) -> {
				template.update(WRITE);
				status.setRollbackOnly();
			});
			assertThat(database.balance()).isZero();
		}
	}

	@Test
	void whenAMethodOfTheClassIsFinalThenTheBeanIsLeftAsItIs() {
		DataSource bean = new FinalConnections(TestServers.newH2());
		assertThat(new FencedDataSourcePostProcessor(() -> {
			throw new IllegalStateException();
		}).postProcessAfterInitialization(bean, "dataSource")).isSameAs(bean);
	}

	@Test
	void whenTheProxyIsAwareOfTransactionsThenItIsTheSame() throws Exception {
		DataSource target = TestServers.newH2();
		DataSource proxy = new TransactionAwareDataSourceProxy(target);
		for (DataSource[] pair : new DataSource[][] { { proxy, target }, { target, proxy } }) {
			FencedDatabase database = FencedDatabase.create(pair[0]);
			JdbcTemplate template = database.wrap(new JdbcTemplate(pair[1]));
			database.operations.run(() -> {
				template.update(WRITE);
				database.transaction().executeWithoutResult((status) -> template.update(WRITE));
			}, TestHeld.next(RESOURCE));
			assertThat(database.balance()).isEqualTo(2);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> database.operations.run(() -> {
				database.takeOver(RESOURCE);
				template.update(WRITE);
			}, TestHeld.next(RESOURCE)));
			assertThat(database.balance()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenRoutingChangesBetweenClaimAndHoldThenRefusedAndElseFencedAtEachTarget(Server server) throws Exception {
		AtomicReference<String> key = new AtomicReference<>("one");
		try (HikariDataSource one = server.newPool(4); HikariDataSource two = server.newPool(4)) {
			FencedDatabase first = FencedDatabase.create(one);
			FencedDatabase second = FencedDatabase.create(two);
			FencedDatabase database = new FencedDatabase(routing(key, one, two), SETTINGS);
			for (String target : new String[] { "one", "two", "one" }) {
				key.set(target);
				database.operations.run(() -> database.writeInTransaction(database.read() + 1),
						TestHeld.next(RESOURCE));
				database.operations.run(() -> database.write(database.read() + 1), TestHeld.next(RESOURCE));
			}
			for (String resource : new String[] { RESOURCE, "account:new" }) {
				for (Operations.Step write : new Operations.Step[] { () -> database.write(99),
						() -> database.writeInTransaction(99) }) {
					key.set("one");
					assertThatExceptionOfType(StaleTokenException.class)
						.isThrownBy(() -> database.operations.run(() -> {
							key.set("two");
							write.run();
						}, TestHeld.next(resource)))
						.satisfies((ex) -> assertThat(ex.getReason()).isEqualTo(RejectionReason.MISSING));
				}
			}
			assertThat(first.balance()).isEqualTo(4);
			assertThat(second.balance()).isEqualTo(2);
		}
	}

	@Test
	void whenTargetsOfARoutingHaveTheirOwnIsolationThenEachKeepsIt() {
		AtomicReference<String> key = new AtomicReference<>("one");
		DataSource[] targets = { TestServers.newH2(), TestServers.newH2() };
		FencedDatabase.create(targets[0]);
		FencedDatabase.create(targets[1]);
		AtomicReference<Integer> returned = new AtomicReference<>();
		FencedDatabase database = new FencedDatabase(
				routing(key, checked(targets[0], Connection.TRANSACTION_READ_COMMITTED, returned),
						checked(targets[1], Connection.TRANSACTION_SERIALIZABLE, returned)),
				JdbcFenceSettings.defaults());
		for (String target : new String[] { "two", "one", "two" }) {
			key.set(target);
			database.operations.enter(TestHeld.next(RESOURCE));
			assertThat(returned).hasValue(
					target.equals("one") ? Connection.TRANSACTION_READ_COMMITTED : Connection.TRANSACTION_SERIALIZABLE);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenPoolHasNoAutoCommitThenEverythingIsHeldAndCommittedAsElsewhere(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(4)) {
			pool.setAutoCommit(false);
			createTables(pool);
			FencedDatabase database = new FencedDatabase(pool, SETTINGS);
			database.operations.run(() -> {
				database.write(database.read() + 1);
				database.writeInTransaction(database.read() + 1);
				database.transaction().executeWithoutResult((outer) -> {
					database.write(database.read() + 1);
					database.newTransaction().executeWithoutResult((inner) -> database.read());
				});
			}, TestHeld.next(RESOURCE));
			assertThat(database.balance()).isEqualTo(3);
			assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> database.operations.run(() -> {
				database.takeOver(RESOURCE);
				database.write(99);
			}, TestHeld.next(RESOURCE)));
			// a read binds its connection for the length of another DataSource's
			// transaction, which looks like a transaction here
			TransactionTemplate other = new TransactionTemplate(new JdbcTransactionManager(TestServers.newH2()));
			assertThatExceptionOfType(FencingException.class).isThrownBy(() -> database.operations.run(
					() -> other.executeWithoutResult((status) -> database.write(database.read() + 1)),
					TestHeld.next(RESOURCE)))
				.withMessageContaining("auto-commit");
			database.operations.run(() -> other.executeWithoutResult((status) -> database.write(5)),
					TestHeld.next(RESOURCE));
			assertThat(database.balance()).isEqualTo(5);
		}
	}

	// without a transaction nothing is committed
	private static void createTables(DataSource pool) {
		FencedDatabase.create(new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				connection.setAutoCommit(true);
				return connection;
			}

		});
	}

	private static AbstractRoutingDataSource routing(AtomicReference<String> key, DataSource one, DataSource two) {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return key.get();
			}

		};
		routing.setTargetDataSources(Map.of("one", one, "two", two));
		routing.afterPropertiesSet();
		return routing;
	}

	private static DataSource checked(DataSource target, int isolation, AtomicReference<Integer> returned) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				connection.setTransactionIsolation(isolation);
				return new CloseCheckedConnection(connection)
					.proxy((closing) -> returned.set(closing.getTransactionIsolation()));
			}

		};
	}

	/**
	 * Proxies.
	 */
	enum Kind {

		/** Spring's, as of many libraries. */
		DELEGATING(DelegatingDataSource::new),

		/** Fetches connections late. */
		LAZY(LazyConnectionDataSourceProxy::new),

		/** Of another maker, as for tracing. */
		FOREIGN((target) -> (DataSource) Proxy.newProxyInstance(Kind.class.getClassLoader(),
				new Class<?>[] { DataSource.class }, (proxy, method, arguments) -> {
					try {
						return switch (method.getName()) {
							case "isWrapperFor" -> ((Class<?>) arguments[0]).isInstance(target);
							case "unwrap" -> target;
							case "equals" -> proxy == arguments[0];
							default -> method.invoke(target, arguments);
						};
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				}));

		private final UnaryOperator<DataSource> wrap;

		Kind(UnaryOperator<DataSource> wrap) {
			this.wrap = wrap;
		}

	}

	/**
	 * On a class proxy, its final method would run with empty fields.
	 */
	public static class FinalConnections extends DelegatingDataSource {

		FinalConnections(DataSource target) {
			super(target);
		}

		@Override
		public final Connection getConnection() throws SQLException {
			return super.getConnection();
		}

	}

}
