package io.fencing.benchmarks;

import io.fencing.benchmarks.JdbcBenchmark.Statements;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * The databases that are measured.
 */
final class Databases {

	private Databases() {
	}

	/**
	 * Measure each with 1 and 8 threads: a PostgreSQL that is started for it, and those
	 * MariaDB servers that are there.
	 * @param mariaDbUrls the JDBC URLs of MariaDB servers, with user and password
	 * @param measurement measures one
	 * @throws Exception if a server or a benchmark fails
	 */
	static void measure(String[] mariaDbUrls, Measurement measurement) throws Exception {
		try (EmbeddedPostgres server = EmbeddedPostgres.builder().setServerConfig("max_connections", "200").start()) {
			measure(measurement, Statements.POSTGRESQL, server.getJdbcUrl("postgres", "postgres"));
		}
		for (String url : mariaDbUrls) {
			measure(measurement, Statements.MARIADB, url);
		}
	}

	private static void measure(Measurement measurement, Statements database, String url) throws Exception {
		measurement.run(database, url, 1);
		measurement.run(database, url, 8);
	}

	/**
	 * Measures one database.
	 */
	@FunctionalInterface
	interface Measurement {

		/**
		 * Measure it.
		 * @param database which it is
		 * @param url its JDBC URL
		 * @param threads the number of threads
		 * @throws Exception if the benchmark fails
		 */
		void run(Statements database, String url, int threads) throws Exception;

	}

}
