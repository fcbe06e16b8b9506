package io.fencing.fence.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.PooledConnection;

import io.fencing.testing.TestServers;
import org.h2.jdbc.JdbcDatabaseMetaData;
import org.h2.jdbc.JdbcPreparedStatement;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What pools, drivers and proxies of libraries have besides JDBC is there for the
 * application as without {@link WatchedConnection}.
 */
class WatchedInterfacesTests {

	private final WatchedClasses classes = new WatchedClasses();

	private final List<String> told = new ArrayList<>();

	@Test
	void whenSomethingIsUnwrappedToAClassOfTheDriverThenItIsThatOfTheDriver() throws SQLException {
		try (Connection driver = TestServers.newH2().getConnection()) {
			Connection watched = watch(driver);
			try (PreparedStatement statement = watched.prepareStatement("SELECT 1")) {
				JdbcPreparedStatement unwrapped = statement.unwrap(JdbcPreparedStatement.class);
				assertThat(unwrapped.getConnection()).isSameAs(driver);
			}
			JdbcDatabaseMetaData metaData = watched.getMetaData().unwrap(JdbcDatabaseMetaData.class);
			assertThat((DatabaseMetaData) metaData).isNotNull();
		}
	}

	// as the connections of Tomcat's pool are, whose manual tells to use it so
	@Test
	void whenThePoolGivesTheConnectionOfTheDriverThenItHasTheInterfacesOfTheDriverAndIsWatched() throws SQLException {
		try (Connection driver = TestServers.newPostgres().getConnection()) {
			Connection watched = watch(proxy(driver, PooledConnection.class, driver));
			Connection given = ((PooledConnection) watched).getConnection();
			assertThat(given).isInstanceOf(PGConnection.class);
			given.createStatement().execute("SELECT 1");
			assertThat(this.told).hasSize(1);
		}
	}

	// as those of datasource-proxy have
	@Test
	void whenALibraryHasMethodsWithNamesOfOursThenTheyAreTheirs() throws SQLException {
		try (Connection driver = TestServers.newH2().getConnection()) {
			Connection watched = watch(proxy(driver, Named.class, "theirs"));
			assertThat(((Named) watched).getTarget()).isEqualTo("theirs");
			assertThat(((Named) watched).getWatcher()).isEqualTo("theirs");
			watched.createStatement().execute("SELECT 1");
			assertThat(watched.isReadOnly()).isFalse();
			assertThat(this.told).hasSize(1);
		}
	}

	private Connection watch(Connection connection) {
		return this.classes.watch(connection, (statement) -> this.told.add("statement"));
	}

	private static Connection proxy(Connection driver, Class<?> type, Object answer) {
		return (Connection) Proxy.newProxyInstance(WatchedInterfacesTests.class.getClassLoader(),
				new Class<?>[] { Connection.class, type }, (proxy, method, arguments) -> {
					if (method.getDeclaringClass() == type) {
						return answer;
					}
					try {
						return method.invoke(driver, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * Of a library.
	 */
	public interface Named {

		Object getTarget();

		Object getWatcher();

	}

}
