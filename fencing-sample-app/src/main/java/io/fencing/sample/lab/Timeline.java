package io.fencing.sample.lab;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What happened, in order. Thread-safe.
 */
final class Timeline {

	private final List<Entry> entries = new ArrayList<>();

	synchronized void add(String worker, String event, @Nullable Long token) {
		this.entries.add(new Entry(Instant.now(), worker, event, token));
	}

	synchronized List<Entry> getEntries() {
		return List.copyOf(this.entries);
	}

	/**
	 * One event.
	 *
	 * @param time when, by the clock on the wall: for reading only
	 * @param worker who
	 * @param event what
	 * @param token the token that the worker holds, if it holds one
	 */
	record Entry(Instant time, String worker, String event, @Nullable Long token) {
	}

}
