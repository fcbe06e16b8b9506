package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

import javax.sql.DataSource;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.jdbcx.JdbcDataSource;
import org.mariadb.jdbc.MariaDbDataSource;
import org.opentest4j.TestAbortedException;
import org.postgresql.ds.PGSimpleDataSource;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;
import redis.embedded.model.OsArchitecture;

/**
 * Real servers for tests: one of each kind per JVM, started on first use on a free
 * loopback port, stopped when the JVM ends. {@code FENCING_TEST_REDIS_URL},
 * {@code FENCING_TEST_REDIS_7_URL}, {@code FENCING_TEST_POSTGRES_URL} and
 * {@code FENCING_TEST_MARIADB_URL} (JDBC URLs with user and password) name running ones
 * instead. MySQL 8 is used only if {@code FENCING_TEST_MYSQL_URL} names one.
 */
public final class TestServers {

	private static final String DATABASE_OF_URL = "(?<=://[^/]{1,100}/)[^?]*";

	private static final AtomicInteger DATABASES = new AtomicInteger();

	private static final int FIRST_PORT = 12_000;

	private static final int BUS_OFFSET = 10_000;

	// JVMs side by side go through the ports from different ones on
	private static final AtomicInteger PORTS = new AtomicInteger(ThreadLocalRandom.current().nextInt(BUS_OFFSET));

	private static final Map<OsArchitecture, String> REDIS_7 = Map.of(OsArchitecture.UNIX_x86_64,
			"/redis-server-7.0.15-linux-amd64", OsArchitecture.UNIX_AARCH64, "/redis-server-7.0.15-linux-arm64",
			OsArchitecture.MAC_OS_X_x86_64, "/redis-server-7.0.15-darwin-amd64", OsArchitecture.MAC_OS_X_ARM64,
			"/redis-server-7.0.15-darwin-arm64");

	private TestServers() {
	}

	/**
	 * The URL of a Redis server.
	 */
	public static String redisUrl() {
		String url = System.getenv("FENCING_TEST_REDIS_URL");
		return (url != null) ? url : "redis://127.0.0.1:" + Redis.PORT;
	}

	/**
	 * The URL of a Redis 7 server, which knows functions.
	 */
	public static String redis7Url() {
		String url = System.getenv("FENCING_TEST_REDIS_7_URL");
		return (url != null) ? url : "redis://127.0.0.1:" + Redis7.PORT;
	}

	/**
	 * A Redis server of the test's own, on the given port, not started.
	 */
	public static RedisServer newRedis(int port) {
		return newRedis(port, new String[0]);
	}

	/**
	 * A Redis 7 server of the test's own, on the given port, not started.
	 */
	public static RedisServer newRedis7(int port) {
		return newRedis7(port, new String[0]);
	}

	/**
	 * A Redis server of the test's own with further settings, not started.
	 */
	public static RedisServer newRedis(int port, String... settings) {
		return newRedis(port, ExecutableProvider.newJarResourceProvider(), settings);
	}

	/**
	 * A Redis 7 server of the test's own with further settings, not started.
	 */
	static RedisServer newRedis7(int port, String... settings) {
		return newRedis(port, ExecutableProvider.newJarResourceProvider(REDIS_7), settings);
	}

	/**
	 * A Redis server of the test's own that another program runs, not started.
	 */
	static RedisServer newRedis(int port, ExecutableProvider executable, String... settings) {
		try {
			RedisServerBuilder builder = RedisServer.newRedisServer()
				.executableProvider(executable)
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.setting("appendonly no");
			for (String setting : settings) {
				builder.setting(setting);
			}
			return builder.build();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The JDBC URL of a new, empty PostgreSQL database.
	 */
	public static String newPostgresUrl() {
		String server = System.getenv("FENCING_TEST_POSTGRES_URL");
		String admin = (server != null) ? server : Postgres.SERVER.getJdbcUrl("postgres", "postgres");
		return admin.replaceFirst(DATABASE_OF_URL, create(postgres(admin)));
	}

	private static String create(DataSource admin) {
		String name = "test" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
		try (Connection connection = admin.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return name;
	}

	/**
	 * An unpooled data source of a new, empty PostgreSQL database.
	 */
	public static DataSource newPostgres() {
		return postgres(newPostgresUrl());
	}

	/**
	 * The JDBC URL of a new, empty MariaDB database.
	 */
	public static String newMariaDbUrl() {
		String server = System.getenv("FENCING_TEST_MARIADB_URL");
		if (server == null) {
			MariaDbServer.checkAvailable();
			server = "jdbc:mariadb://127.0.0.1:" + MariaDb.PORT + "/mysql?user=root";
		}
		return newInnoDbUrl(server);
	}

	/**
	 * An unpooled data source of a new, empty MariaDB database.
	 */
	public static DataSource newMariaDb() {
		return dataSource(newMariaDbUrl());
	}

	/**
	 * The JDBC URL of a new, empty MySQL database.
	 */
	public static String newMySqlUrl() {
		String server = System.getenv("FENCING_TEST_MYSQL_URL");
		if (server == null) {
			throw skip("not run on MySQL; set FENCING_TEST_MYSQL_URL, as in "
					+ "'jdbc:mysql://127.0.0.1:3306/mysql?user=root&password=...'");
		}
		return newInnoDbUrl(server);
	}

	/**
	 * An unpooled data source of a new, empty MySQL database.
	 */
	public static DataSource newMySql() {
		return dataSource(newMySqlUrl());
	}

	/**
	 * An unpooled data source of a MariaDB or MySQL database.
	 * @param url the JDBC URL, which chooses the driver
	 */
	public static DataSource dataSource(String url) {
		try {
			if (url.startsWith("jdbc:mariadb:")) {
				return new MariaDbDataSource(url);
			}
			MysqlDataSource dataSource = new MysqlDataSource();
			dataSource.setUrl(url);
			return dataSource;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Say aloud that tests are skipped.
	 * @param reason why
	 * @return the exception that skips them
	 */
	public static TestAbortedException skip(String reason) {
		String message = "SKIPPED: " + reason;
		System.out.println(message);
		return new TestAbortedException(message);
	}

	private static String newInnoDbUrl(String admin) {
		return admin.replaceFirst(DATABASE_OF_URL, create(dataSource(admin)));
	}

	/**
	 * An unpooled data source of a new, empty H2 database in memory.
	 */
	public static DataSource newH2() {
		JdbcDataSource dataSource = new JdbcDataSource();
		dataSource.setURL(newH2Url());
		return dataSource;
	}

	/**
	 * The JDBC URL of a new, empty H2 database in memory.
	 */
	public static String newH2Url() {
		return "jdbc:h2:mem:test" + DATABASES.incrementAndGet() + ";DB_CLOSE_DELAY=-1";
	}

	/**
	 * A loopback port that nobody listens on, nor on the one of its
	 * {@linkplain #busPort(int) bus}, a new one with each call. It is none of those that
	 * systems give to clients, one of which could take it before its server starts.
	 */
	public static int freePort() {
		int port = FIRST_PORT + Math.floorMod(PORTS.getAndIncrement(), BUS_OFFSET);
		return (isFree(port) && isFree(busPort(port))) ? port : freePort();
	}

	/**
	 * Where a node of a Redis Cluster listens for the others.
	 * @param port the port for its clients
	 */
	static int busPort(int port) {
		return port + BUS_OFFSET;
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static DataSource postgres(String url) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setUrl(url);
		return dataSource;
	}

	private static int start(IntFunction<RedisServer> create) {
		int port = freePort();
		RedisServer server = create.apply(port);
		try {
			server.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			try {
				server.stop();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}));
		return port;
	}

	private static final class Redis {

		static final int PORT = start(TestServers::newRedis);

	}

	private static final class Redis7 {

		static final int PORT = start(TestServers::newRedis7);

	}

	private static final class MariaDb {

		static final int PORT = freePort();

		static {
			MariaDbServer.start(PORT);
		}

	}

	private static final class Postgres {

		static final EmbeddedPostgres SERVER = start();

		private static EmbeddedPostgres start() {
			try {
				EmbeddedPostgres server = EmbeddedPostgres.builder().setPort(freePort()).start();
				Runtime.getRuntime().addShutdownHook(new Thread(() -> {
					try {
						server.close();
					}
					catch (IOException ex) {
						throw new UncheckedIOException(ex);
					}
				}));
				return server;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
