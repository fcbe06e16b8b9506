package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

import io.fencing.InvalidFencedOperationException;
import io.fencing.fence.UnfencedWrites;
import io.fencing.jdbc.DatabaseDialects;
import io.fencing.jdbc.TableName;

/**
 * How a JDBC fence works. Immutable.
 *
 * @param table the fence table
 * @param dialects the dialects that the database may have
 * @param admissionTimeout the longest time that a claim tries to get past transactions
 * that keep a fence locked
 * @param retention how long the fence remembers a token, at least 24 hours
 * @param joinedTransactions what happens to an operation called inside a transaction
 * @param unfencedWrites what happens to writes outside of operations
 * @param writingFunctions names of functions that write although a SELECT calls them
 * @param unfencedStatements beginnings of statements that are sent as they are, without a
 * transaction and without a hold, such as {@code VACUUM}
 */
public record JdbcFenceSettings(TableName table, DatabaseDialects dialects, Duration admissionTimeout,
		Duration retention, JoinedTransactions joinedTransactions, UnfencedWrites unfencedWrites,
		Set<String> writingFunctions, List<String> unfencedStatements) {

	/**
	 * The name of the fence table.
	 */
	public static final String DEFAULT_TABLE = "fencing_fence";

	/**
	 * Functions of PostgreSQL and H2 that run other statements or change data.
	 */
	public static final Set<String> DEFAULT_WRITING_FUNCTIONS = Set.of("SETVAL", "DBLINK", "DBLINK_EXEC",
			"DBLINK_SEND_QUERY", "LO_TRUNCATE", "LO_TRUNCATE64", "QUERY_TO_XML", "LO_CREATE", "LO_CREAT",
			"LO_FROM_BYTEA", "LO_IMPORT", "LO_PUT", "LO_UNLINK", "LOWRITE", "PG_NOTIFY", "CSVWRITE", "FILE_WRITE",
			"LINK_SCHEMA");

	private static final Duration MINIMUM_RETENTION = Duration.ofHours(24);

	/**
	 * Create settings.
	 * @throws InvalidFencedOperationException if a duration is out of range
	 */
	public JdbcFenceSettings {
		if (admissionTimeout.isNegative()) {
			throw new InvalidFencedOperationException(
					"'fencing.jdbc.admission-timeout' is '" + admissionTimeout + "'; it must not be negative");
		}
		if (retention.compareTo(MINIMUM_RETENTION) < 0) {
			throw new InvalidFencedOperationException(
					"'fencing.jdbc.retention' is '" + retention + "'; it must be at least 24 hours");
		}
		writingFunctions = writingFunctions.stream()
			.map((name) -> name.toUpperCase(Locale.ROOT))
			.collect(Collectors.toUnmodifiableSet());
		unfencedStatements = List.copyOf(unfencedStatements);
	}

	/**
	 * The defaults.
	 * @return the settings of an application that sets none
	 */
	public static JdbcFenceSettings defaults() {
		return new JdbcFenceSettings(new TableName(null, DEFAULT_TABLE), DatabaseDialects.of(List.of()),
				Duration.ofSeconds(3), Duration.ofDays(7), JoinedTransactions.SAFE, UnfencedWrites.ALLOW,
				DEFAULT_WRITING_FUNCTIONS, List.of());
	}

}
