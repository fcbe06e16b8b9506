package io.fencing.testing;

/**
 * The relational servers that a test can run on. Each database is new and empty.
 */
public enum TestDatabase {

	/** Always there. */
	POSTGRESQL,

	/** Where there is a server for this system. */
	MARIADB,

	/** If {@code FENCING_TEST_MYSQL_URL} names one. */
	MYSQL;

	/**
	 * The JDBC URL of a new, empty database.
	 * @return the URL
	 * @throws org.opentest4j.TestAbortedException if there is no such server here
	 */
	public String newUrl() {
		return switch (this) {
			case POSTGRESQL -> TestServers.newPostgresUrl();
			case MARIADB -> TestServers.newMariaDbUrl();
			case MYSQL -> TestServers.newMySqlUrl();
		};
	}

}
