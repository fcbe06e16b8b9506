package io.fencing.autoconfigure;

import java.time.Duration;

/**
 * How long a storage remembers tokens, told without the types of that storage, which may
 * be absent.
 *
 * @param time the time
 */
record StorageRetention(Duration time) {
}
