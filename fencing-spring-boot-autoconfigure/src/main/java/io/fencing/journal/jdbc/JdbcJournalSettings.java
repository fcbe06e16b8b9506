package io.fencing.journal.jdbc;

import java.time.Duration;

import io.fencing.jdbc.TableName;

/**
 * The settings of the journal in a database. Immutable.
 *
 * @param table the name of its table
 * @param timeout the longest time for one statement of its own
 * @param checkAfter how long after its start an attempt is looked after first
 */
public record JdbcJournalSettings(TableName table, Duration timeout, Duration checkAfter) {
}
