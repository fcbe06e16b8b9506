package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server says of itself, which may be more than its driver knows: a MariaDB server
 * behind the driver of MySQL, or another product that speaks the protocol of one of
 * these.
 *
 * @param text the server's own words
 */
record ServerVersion(String text) {

	// they speak the protocol, but lock otherwise
	private static final Set<String> OTHERS = Set.of("CockroachDB", "-YB-", "Greenplum", "QuestDB", "Redshift", "TiDB",
			"Vitess", "OceanBase");

	// MariaDB may put the version that it once had to pretend in front
	private static final Pattern NUMBER = Pattern.compile("(?:5\\.5\\.5-)?(\\d+)\\.(\\d+)");

	static ServerVersion of(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT VERSION()")) {
			return new ServerVersion(rows.next() ? String.valueOf(rows.getString(1)) : "");
		}
	}

	boolean isMariaDb() {
		return this.text.contains("MariaDB");
	}

	/**
	 * Whether the server is the product itself, in this version or a newer one.
	 * @param major the first number
	 * @param minor the second number
	 * @return whether it is
	 */
	boolean isAtLeast(int major, int minor) {
		Matcher number = NUMBER.matcher(this.text);
		if (!number.find() || OTHERS.stream().anyMatch(this.text::contains)) {
			return false;
		}
		int first = Integer.parseInt(number.group(1));
		return first > major || (first == major && Integer.parseInt(number.group(2)) >= minor);
	}

}
