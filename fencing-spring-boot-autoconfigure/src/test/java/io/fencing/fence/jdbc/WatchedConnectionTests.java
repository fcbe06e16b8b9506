package io.fencing.fence.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.fencing.fence.jdbc.Watched.Watcher;
import io.fencing.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

import org.springframework.jdbc.datasource.ConnectionHolder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link WatchedConnection}: what it leaves as it was, and whom it tells.
 */
class WatchedConnectionTests {

	private final WatchedClasses classes = new WatchedClasses();

	private final List<String> told = new ArrayList<>();

	@Test
	void whenAConnectionIsWatchedTwiceThenTheInterfacesOfTheDriverStay() throws SQLException {
		try (Connection driver = TestServers.newPostgres().getConnection()) {
			Connection inner = watch(driver, "inner");
			Connection outer = watch(inner, "outer");
			for (Connection watched : List.of(inner, outer)) {
				assertThat(watched).isInstanceOf(PGConnection.class);
				assertThat(watched.unwrap(PGConnection.class)).isSameAs(driver);
				try (PreparedStatement statement = watched.prepareStatement("SELECT 1")) {
					assertThat(statement).isInstanceOf(PGStatement.class);
					assertThat(statement.getConnection()).isSameAs(watched);
					assertThat(statement.executeQuery().next()).isTrue();
				}
			}
			assertThat(this.told).containsExactly("inner statement", "outer statement", "inner statement");
		}
	}

	@Test
	void whenTheDriverHasAnInterfaceOfItsOwnThatIsNotPublicThenTheOthersStay() throws SQLException {
		try (Connection driver = TestServers.newH2().getConnection()) {
			Connection hidden = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { Connection.class, Hidden.class, Shown.class },
					(proxy, method, arguments) -> method.invoke(driver, arguments));
			Connection watched = watch(hidden, "one");
			assertThat(watched).isInstanceOf(Shown.class);
			watched.createStatement().execute("SELECT 1");
			assertThat(this.told).containsExactly("one statement");
		}
	}

	@Test
	void whenASecondContextWatchesTheSameDriverThenNoFurtherClassIsMade() throws SQLException {
		try (Connection driver = TestServers.newH2().getConnection()) {
			assertThat(new WatchedClasses().watch(driver, (statement) -> {
			})).hasSameClassAs(watch(driver, "one"));
		}
	}

	@Test
	void whenAHoldIsTakenThenTheWatcherIsToldAndItsStatementsPassBehindIt() throws SQLException {
		try (Connection driver = TestServers.newH2().getConnection()) {
			Connection watched = watch(driver, "one");
			Watched.tellHold(watched, new ConnectionHolder(watched));
			Watched.tellHold(driver, new ConnectionHolder(driver));
			assertThat(Watched.behind(watched)).isSameAs(driver);
			assertThat(Watched.behind(driver)).isSameAs(driver);
			assertThat(this.told).containsExactly("one hold");
		}
	}

	private Connection watch(Connection connection, String name) {
		return this.classes.watch(connection, new Watcher() {

			@Override
			public void beforeHold(ConnectionHolder transaction) {
				WatchedConnectionTests.this.told.add(name + " hold");
			}

			@Override
			public void beforeStatement(Supplier<TemplateStatement> statement) {
				WatchedConnectionTests.this.told.add(name + " statement");
			}

		});
	}

	/**
	 * Of a driver, seen from its package only.
	 */
	interface Hidden {

	}

	/**
	 * Of a driver.
	 */
	public interface Shown {

	}

}
