package io.fencing.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;

/**
 * The dialects of an application: its own ones, then those of PostgreSQL, MySQL, MariaDB
 * and H2. Immutable.
 */
public final class DatabaseDialects {

	private static final List<DatabaseDialect> STANDARD = List.of(new PostgreSqlDialect(),
			new InnoDbDialect("mysql", false, "FOR SHARE SKIP LOCKED"),
			new InnoDbDialect("mariadb", true, "LOCK IN SHARE MODE SKIP LOCKED"), new H2Dialect());

	private final List<DatabaseDialect> dialects;

	private final @Nullable DatabaseDialect chosen;

	private DatabaseDialects(List<DatabaseDialect> dialects, @Nullable DatabaseDialect chosen) {
		this.dialects = dialects;
		this.chosen = chosen;
	}

	/**
	 * Create the dialects of an application.
	 * @param own its own ones, asked first
	 * @return the dialects
	 */
	public static DatabaseDialects of(List<? extends DatabaseDialect> own) {
		List<DatabaseDialect> all = new ArrayList<>(own);
		all.addAll(STANDARD);
		return new DatabaseDialects(List.copyOf(all), null);
	}

	/**
	 * Choose a dialect, whatever the database says that it is.
	 * @param name its name, in any case; {@code null} to recognise it at first use
	 * @return the dialects with that choice
	 * @throws InvalidFencedOperationException if there is no such dialect
	 */
	public DatabaseDialects choose(@Nullable String name) {
		if (name == null) {
			return this;
		}
		for (DatabaseDialect dialect : this.dialects) {
			if (dialect.getName().equalsIgnoreCase(name)) {
				return new DatabaseDialects(this.dialects, dialect);
			}
		}
		throw new InvalidFencedOperationException(
				"'fencing.jdbc.dialect' is '" + name + "', which is no dialect; set it to one of "
						+ this.dialects.stream().map(DatabaseDialect::getName).toList() + " or define a bean of type "
						+ DatabaseDialect.class.getName());
	}

	/**
	 * The dialect that was chosen.
	 * @return the dialect, {@code null} if it is recognised at first use
	 */
	public @Nullable DatabaseDialect getChosen() {
		return this.chosen;
	}

	/**
	 * Find the dialect of a database.
	 * @param storage the name of the storage, for the message
	 * @param connection a connection to it
	 * @return the dialect
	 * @throws SQLException if the server does not tell what it is
	 * @throws InvalidFencedOperationException if the database cannot be fenced
	 */
	public DatabaseDialect find(String storage, Connection connection) throws SQLException {
		if (this.chosen != null) {
			return this.chosen;
		}
		for (DatabaseDialect dialect : this.dialects) {
			if (dialect.supports(connection)) {
				return dialect;
			}
		}
		DatabaseMetaData metaData = connection.getMetaData();
		throw new InvalidFencedOperationException("Storage '" + storage + "' is a database of product '"
				+ metaData.getDatabaseProductName() + "', version '" + metaData.getDatabaseProductVersion()
				+ "', for which there is no fence; use PostgreSQL 12, MySQL 8, MariaDB 10.6 or H2 2.2.220, or newer, "
				+ "define a bean of type " + DatabaseDialect.class.getName()
				+ ", or take this DataSource out of the fenced storages");
	}

}
