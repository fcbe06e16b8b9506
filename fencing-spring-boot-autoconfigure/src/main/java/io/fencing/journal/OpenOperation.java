package io.fencing.journal;

import java.time.Instant;

/**
 * An operation that has no end yet. Immutable.
 *
 * @param entry what the journal shows
 * @param since when it came into its state, by the clock of the store
 * @param checks how often somebody has looked after it since then
 */
public record OpenOperation(JournalEntry entry, Instant since, int checks) {
}
