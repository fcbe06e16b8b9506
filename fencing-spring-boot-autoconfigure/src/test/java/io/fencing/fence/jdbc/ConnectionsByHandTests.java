package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.fencing.AdmissionTimeoutException;
import io.fencing.FencingException;
import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.FenceRaceTests.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.object.UpdatableSqlQuery;
import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What applications do to the connections of DataSource beans besides sending texts.
 */
class ConnectionsByHandTests {

	private static final String RESOURCE = "account:a";

	private static final String READ = "SELECT id, balance FROM account WHERE id = 'a'";

	private static final String WRITE = "UPDATE account SET balance = 99 WHERE id = 'a'";

	static FencedDatabase database(DataSource pool, UnfencedWrites unfencedWrites) {
		return database(pool, unfencedWrites, (bean) -> bean);
	}

	// the data source is what a bean would be
	private static FencedDatabase database(DataSource pool, UnfencedWrites unfencedWrites,
			UnaryOperator<DataSource> proxy) {
		FencedDatabase.create(pool);
		AtomicReference<FencedDatabase> database = new AtomicReference<>();
		DataSource bean = (DataSource) new FencedDataSourcePostProcessor(() -> database.get().fences)
			.postProcessAfterInitialization(pool, "dataSource");
		database.set(new FencedDatabase(proxy.apply(bean),
				FencedDatabase.settings(unfencedWrites, JoinedTransactions.SAFE, Duration.ofMillis(100))));
		return database.get();
	}

	private static boolean takesOver(FencedDatabase database) {
		try {
			return database.takeOver(RESOURCE);
		}
		catch (CompletionException ex) {
			assertThat(ex).hasCauseInstanceOf(AdmissionTimeoutException.class);
			return false;
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenAConnectionIsFetchedFromWhatItGaveThenItsWritesAreTold(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(4)) {
			FencedDatabase database = database(pool, UnfencedWrites.ALLOW);
			List<Connection> fetched = new ArrayList<>();
			database.operations.run(() -> {
				try (Connection connection = database.dataSource.getConnection();
						Statement statement = connection.createStatement()) {
					fetched.addAll(List.of(statement.getConnection(), connection.prepareStatement(READ).getConnection(),
							connection.getMetaData().getConnection()));
					for (Connection one : fetched) {
						database.unfenced.clear();
						one.createStatement().executeUpdate(WRITE);
						assertThat(database.unfenced).hasSize(1);
					}
				}
			}, TestHeld.next(RESOURCE));
			assertThat(fetched).hasSize(3);
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenRowsAreWrittenThroughAResultSetThenItIsToldRefusedOrHeld(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(4)) {
			FencedDatabase database = database(pool, UnfencedWrites.ALLOW);
			RowWriter writer = new RowWriter(database.jdbc);
			database.operations.run(writer::execute, TestHeld.next(RESOURCE));
			assertThat(database.unfenced).hasSize(1);
			database.operations.run(() -> {
				database.transaction().executeWithoutResult((status) -> writer.execute());
				database.jdbc.queryForList(READ);
			}, TestHeld.next(RESOURCE));
			assertThat(database.unfenced).hasSize(1);
			assertThat(database.balance()).isEqualTo(99);
			FencedDatabase strict = database(pool, UnfencedWrites.REJECT);
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(
					() -> strict.operations.run(() -> new RowWriter(strict.jdbc).execute(), TestHeld.next(RESOURCE)));
			assertThat(strict.balance()).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenATransactionIsEndedByHandThenNothingAfterItIsApplied(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(4)) {
			for (End end : End.values()) {
				FencedDatabase database = database(pool, UnfencedWrites.ALLOW);
				assertThatExceptionOfType(FencingException.class).as("%s", end)
					.isThrownBy(() -> database.operations
						.run(() -> database.transaction().executeWithoutResult((status) -> {
							database.raw.execute((ConnectionCallback<Boolean>) (connection) -> {
								end.body.run(DataSourceUtils.getConnection(database.dataSource));
								return true;
							});
							takesOver(database);
							database.raw.update(WRITE);
						}), TestHeld.next(RESOURCE)));
				assertThat(database.balance()).as("%s", end).isLessThan(99);
				assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void whenACallbackOutsideOfOperationsOnlyReadsThenItPassesAndElseItIsRefused(Server server) {
		try (HikariDataSource pool = server.newPool(4)) {
			FencedDatabase database = database(pool, UnfencedWrites.REJECT);
			// as Spring Data JDBC does while the application starts
			assertThat(database.jdbc.execute(
					(ConnectionCallback<String>) (connection) -> connection.getMetaData().getDatabaseProductName()))
				.isNotNull();
			assertThat(database.jdbc
				.execute((ConnectionCallback<Boolean>) (connection) -> connection.createStatement().execute(READ)))
				.isTrue();
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(() -> database.jdbc.execute(
					(ConnectionCallback<Integer>) (connection) -> connection.createStatement().executeUpdate(WRITE)));
			assertThatExceptionOfType(UnfencedWriteException.class).isThrownBy(
					() -> database.jdbc.execute((ConnectionCallback<Integer>) (connection) -> connection.getMetaData()
						.getConnection()
						.prepareStatement(WRITE)
						.executeUpdate()));
			assertThat(database.balance()).isZero();
		}
	}

	// a scoped proxy, one of a library, one that was made after ours
	@ParameterizedTest
	@EnumSource
	void whenAProxyHidesTheBeanAndItsConnectionsThenTheyAreStillKnownToHold(Server server) throws Exception {
		try (HikariDataSource pool = server.newPool(4)) {
			FencedDatabase database = database(pool, UnfencedWrites.REJECT, ConnectionsByHandTests::hide);
			database.operations.run(() -> {
				database.write(1);
				database.transaction().executeWithoutResult((outer) -> {
					database.raw.update("UPDATE account SET balance = balance + 1 WHERE id = 'a'");
					database.newTransaction()
						.executeWithoutResult((inner) -> database.raw
							.update("UPDATE account SET balance = balance + 1 WHERE id = 'b'"));
					database.raw.update("UPDATE account SET balance = balance + 1 WHERE id = 'a'");
				});
			}, TestHeld.next(RESOURCE));
			assertThat(database.unfenced).isEmpty();
			assertThat(database.balance()).isEqualTo(3);
			assertThatExceptionOfType(UnfencedWriteException.class)
				.isThrownBy(() -> database.operations.run(() -> database.raw.update(WRITE), TestHeld.next(RESOURCE)));
			assertThat(database.balance()).isEqualTo(3);
		}
	}

	private static DataSource hide(DataSource bean) {
		return hide(DataSource.class, bean);
	}

	private static <T> T hide(Class<T> type, T target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				try {
					return switch (method.getName()) {
						case "isWrapperFor" -> false;
						case "equals" -> proxy == arguments[0];
						case "hashCode" -> System.identityHashCode(proxy);
						case "getConnection" -> hide(Connection.class, (Connection) method.invoke(target, arguments));
						default -> method.invoke(target, arguments);
					};
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}));
	}

	@Test
	void whenAConnectionIsTakenWhileBeansAreMadeThenNoneIsAskedFor() throws SQLException {
		try (HikariDataSource pool = Server.H2.newPool(4)) {
			FencedDatabase database = FencedDatabase.create(pool);
			DataSource bean = (DataSource) new FencedDataSourcePostProcessor(() -> {
				throw new IllegalStateException("Circular");
			}).postProcessAfterInitialization(pool, "dataSource");
			database.transaction(TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.ISOLATION_DEFAULT)
				.executeWithoutResult((status) -> assertThat(FencedDatabase.read(new JdbcTemplate(bean))).isZero());
		}
	}

	/**
	 * Ways to end a transaction that is another's.
	 */
	enum End {

		/** The method. */
		COMMIT(Connection::commit),

		/** The method. */
		ROLL_BACK(Connection::rollback),

		/** Commits. */
		AUTO_COMMIT((connection) -> connection.setAutoCommit(true)),

		/** The text. */
		COMMIT_TEXT((connection) -> connection.createStatement().execute("COMMIT")),

		/** Prepared. */
		PREPARED_TEXT((connection) -> connection.prepareStatement("ROLLBACK").execute());

		private final Body body;

		End(Body body) {
			this.body = body;
		}

	}

	/**
	 * Uses a connection.
	 */
	@FunctionalInterface
	private interface Body {

		void run(Connection connection) throws SQLException;

	}

	/**
	 * Writes a row that a plain SELECT has found.
	 */
	private static final class RowWriter extends UpdatableSqlQuery<Integer> {

		RowWriter(JdbcTemplate template) {
			setJdbcTemplate(template);
			setSql(READ);
			setResultSetType(ResultSet.TYPE_SCROLL_INSENSITIVE);
			compile();
		}

		@Override
		protected Integer updateRow(ResultSet row, int number, Map<?, ?> context) throws SQLException {
			row.updateInt("balance", 99);
			return 99;
		}

	}

}
