package io.fencing.fence.redis;

import java.time.Duration;

import io.fencing.fence.UnfencedWrites;

/**
 * The settings of Redis fences. Immutable.
 *
 * @param keyPrefix what every guard starts with
 * @param retention how long a guard is remembered after its last claim
 * @param unfencedWrites what happens to writes outside of operations
 */
public record RedisFenceSettings(String keyPrefix, Duration retention, UnfencedWrites unfencedWrites) {
}
