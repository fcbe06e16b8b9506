package io.fencing.sample.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import redis.embedded.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Starts a Redis and a PostgreSQL server, each unless one is given by properties. The
 * connection details depend on the servers, so that these start before and stop after
 * whatever connects to them.
 */
@Configuration(proxyBeanMethods = false)
class OwnServersConfiguration {

	static final String REDIS = "spring.data.redis";

	static final String POSTGRES = "spring.datasource";

	private static final String HOST = "127.0.0.1";

	/**
	 * A Redis server, and how to reach it.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnNothingGiven(REDIS)
	static class OwnRedisConfiguration {

		@Bean(initMethod = "start", destroyMethod = "stop")
		RedisServer ownRedis() throws IOException {
			return RedisServer.newRedisServer()
				.port(freePort())
				.bind(HOST)
				.setting("save \"\"")
				.setting("appendonly no")
				.build();
		}

		@Bean
		DataRedisConnectionDetails ownRedisConnectionDetails(RedisServer server) {
			int port = server.ports().get(0);
			return new DataRedisConnectionDetails() {

				@Override
				public Standalone getStandalone() {
					return Standalone.of(HOST, port);
				}

			};
		}

		private static int freePort() throws IOException {
			try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
				return socket.getLocalPort();
			}
		}

	}

	/**
	 * A PostgreSQL server, and how to reach it.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnNothingGiven(POSTGRES)
	static class OwnPostgresConfiguration {

		private static final String USER = "postgres";

		@Bean(destroyMethod = "close")
		EmbeddedPostgres ownPostgres() throws IOException {
			EmbeddedPostgres server = EmbeddedPostgres.builder().setRegisterShutdownHook(false).start();
			// for a JVM that is ended while the context is still starting
			SpringApplication.getShutdownHandlers().add(() -> close(server));
			return server;
		}

		@Bean
		JdbcConnectionDetails ownPostgresConnectionDetails(EmbeddedPostgres server) {
			return new JdbcConnectionDetails() {

				@Override
				public String getUsername() {
					return USER;
				}

				@Override
				public String getPassword() {
					return "";
				}

				@Override
				public String getJdbcUrl() {
					return server.getJdbcUrl(USER, "postgres");
				}

			};
		}

		private static void close(EmbeddedPostgres server) {
			try {
				server.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
