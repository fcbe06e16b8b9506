package io.fencing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import redis.embedded.RedisServer;

/**
 * Real servers for tests: one of each kind per JVM, started on first use on a free
 * loopback port, stopped when the JVM ends. {@code FENCING_TEST_REDIS_URL} and
 * {@code FENCING_TEST_POSTGRES_URL} (a JDBC URL with user and password) name running ones
 * instead.
 */
public final class TestServers {

	private static final AtomicInteger DATABASES = new AtomicInteger();

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
	 * A Redis server of the test's own, on the given port, not started.
	 */
	public static RedisServer newRedis(int port) {
		try {
			return RedisServer.newRedisServer()
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.setting("appendonly no")
				.build();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The JDBC URL of a new, empty PostgreSQL database.
	 */
	public static String newPostgresUrl() {
		String name = "test" + ProcessHandle.current().pid() + "_" + DATABASES.incrementAndGet();
		String server = System.getenv("FENCING_TEST_POSTGRES_URL");
		String admin = (server != null) ? server : Postgres.SERVER.getJdbcUrl("postgres", "postgres");
		try (Connection connection = postgres(admin).getConnection();
				Statement statement = connection.createStatement()) {
			statement.execute("CREATE DATABASE " + name);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
		return admin.replaceFirst("(?<=://[^/]{1,100}/)[^?]*", name);
	}

	/**
	 * An unpooled data source of a new, empty PostgreSQL database.
	 */
	public static DataSource newPostgres() {
		return postgres(newPostgresUrl());
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
	 * A loopback port that nobody listens on.
	 */
	public static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static DataSource postgres(String url) {
		PGSimpleDataSource dataSource = new PGSimpleDataSource();
		dataSource.setUrl(url);
		return dataSource;
	}

	private static final class Redis {

		static final int PORT = start();

		private static int start() {
			int port = freePort();
			RedisServer server = newRedis(port);
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

	}

	private static final class Postgres {

		static final EmbeddedPostgres SERVER = start();

		private static EmbeddedPostgres start() {
			try {
				EmbeddedPostgres server = EmbeddedPostgres.builder().start();
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
