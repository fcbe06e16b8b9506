package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import io.fencing.InvalidFencedOperationException;
import io.fencing.testing.TestServers;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Dialects and names.
 */
class DatabaseDialectTests {

	private static final DatabaseDialects DIALECTS = DatabaseDialects.of(List.of());

	@Test
	void case58WhenDatabaseIsKnownThenRecognisedByItsServerWhateverTheDriver() throws Exception {
		assertThat(find(TestServers.newPostgres())).isEqualTo("postgresql");
		assertThat(find(TestServers.newH2())).isEqualTo("h2");
		String mariaDb = TestServers.newMariaDbUrl();
		assertThat(find(TestServers.dataSource(mariaDb))).isEqualTo("mariadb");
		assertThat(find(TestServers.dataSource(mariaDb + "&useMysqlMetadata=true"))).isEqualTo("mariadb");
		assertThat(find(TestServers.dataSource(mariaDb.replaceFirst("mariadb", "mysql")))).isEqualTo("mariadb");
	}

	@Test
	void case58WhenDatabaseIsMySqlThenRecognisedByItsServerWhateverTheDriver() throws Exception {
		String mySql = TestServers.newMySqlUrl();
		assertThat(find(TestServers.dataSource(mySql))).isEqualTo("mysql");
		assertThat(find(TestServers.dataSource(mySql.replaceFirst("mysql", "mariadb")))).isEqualTo("mysql");
	}

	private static String find(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return DIALECTS.find("ledger", connection).getName();
		}
	}

	@ParameterizedTest
	@CsvSource({ "16.4 (Debian 16.4-1), 12, 0, true", "'PostgreSQL 12.1 on x86_64', 12, 0, true",
			"PostgreSQL 11.22, 12, 0, false", "8.0.35-27, 8, 0, true", "5.7.44-log, 8, 0, false",
			"11.4.5-MariaDB, 10, 6, true", "5.5.5-10.6.12-MariaDB-log, 10, 6, true", "10.5.25-MariaDB, 10, 6, false",
			"8.0.11-TiDB-v7.5.0, 8, 0, false", "8.0.30-Vitess, 8, 0, false",
			"PostgreSQL 15.2-YB-2.25.0.0-b0, 12, 0, false", "CockroachDB CCL v24.1.0, 12, 0, false",
			"PostgreSQL 8.0.2 on i686-pc-linux-gnu Redshift 1.0, 12, 0, false", "'', 8, 0, false" })
	void whenServerIsOldOrAnotherProductThenItIsNotFenced(String text, int major, int minor, boolean atLeast) {
		assertThat(new ServerVersion(text).isAtLeast(major, minor)).isEqualTo(atLeast);
	}

	@Test
	void whenProductIsNotSupportedThenOneClearFailureNamesTheInterface() throws Exception {
		try (Connection h2 = TestServers.newH2().getConnection()) {
			assertThatExceptionOfType(InvalidFencedOperationException.class)
				.isThrownBy(() -> DIALECTS.find("ledger", pretend(h2, "Oracle")))
				.withMessageContaining("'ledger'")
				.withMessageContaining("'Oracle'")
				.withMessageContaining("MariaDB 10.6")
				.withMessageContaining(DatabaseDialect.class.getName());
		}
	}

	@Test
	void whenApplicationHasADialectThenItIsAskedFirstAndCanBeChosen() throws Exception {
		DatabaseDialect own = override(DatabaseDialect.class, DIALECTS.choose("h2").getChosen(), "getName", "own");
		DatabaseDialects dialects = DatabaseDialects.of(List.of(own));
		try (Connection h2 = TestServers.newH2().getConnection()) {
			assertThat(dialects.find("ledger", h2)).isSameAs(own);
			assertThat(dialects.choose("H2").find("ledger", h2).getName()).isEqualTo("h2");
			assertThat(DIALECTS.choose("mariadb").find("ledger", h2).getName()).isEqualTo("mariadb");
		}
		assertThatExceptionOfType(InvalidFencedOperationException.class).isThrownBy(() -> dialects.choose("oracle"))
			.withMessageContaining("[own, postgresql, mysql, mariadb, h2]");
	}

	private static Connection pretend(Connection target, String product) throws SQLException {
		DatabaseMetaData metaData = override(DatabaseMetaData.class, target.getMetaData(), "getDatabaseProductName",
				product);
		return override(Connection.class, target, "getMetaData", metaData);
	}

	private static <T> T override(Class<T> type, T target, String method, Object result) {
		ProxyFactory factory = new ProxyFactory(type,
				(MethodInterceptor) (call) -> call.getMethod().getName().equals(method) ? result : call.proceed());
		factory.setTarget(target);
		return type.cast(factory.getProxy());
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgresql", "mysql", "mariadb", "h2" })
	void whenDialectHasAScriptThenItAndItsCounterpartAreThere(String name) {
		DatabaseDialect dialect = DIALECTS.choose(name).getChosen();
		assertThat(new ClassPathResource(dialect.getSchemaScript()).exists()).isTrue();
		assertThat(new ClassPathResource(dialect.getSchemaScript().replace("schema-", "schema-drop-")).exists())
			.isTrue();
	}

	@Test
	void whenNameIsNoPlainIdentifierThenRefused() {
		assertThat(new TableName("ledger", "fences")).hasToString("ledger.fences");
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new TableName(null, "fence; DROP TABLE account"));
		assertThatExceptionOfType(InvalidFencedOperationException.class)
			.isThrownBy(() -> new TableName("a.b", "fence"));
	}

}
