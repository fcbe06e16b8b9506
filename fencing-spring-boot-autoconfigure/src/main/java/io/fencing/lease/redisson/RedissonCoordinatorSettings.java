package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.regex.Pattern;

import io.fencing.InvalidFencedOperationException;

/**
 * The settings of the coordinator on Redis ({@code fencing.coordinator.*}). Immutable.
 *
 * @param keyPrefix what all keys and channels start with: letters, digits, dots, colons,
 * underscores and hyphens, since braces would decide the cluster slot
 * @param tokenRetention how long the last token of a resource is kept after its last
 * grant, 1 to 366 days; once it is gone, only the clock of Redis keeps tokens rising
 * @param fair whether leases are granted in order of arrival
 */
public record RedissonCoordinatorSettings(String keyPrefix, Duration tokenRetention, boolean fair) {

	/**
	 * The default prefix.
	 */
	public static final String DEFAULT_KEY_PREFIX = "fencing";

	/**
	 * The default retention.
	 */
	public static final Duration DEFAULT_TOKEN_RETENTION = Duration.ofDays(7);

	private static final Pattern PREFIX = Pattern.compile("[\\w.:-]{1,200}");

	private static final Duration MIN_RETENTION = Duration.ofDays(1);

	private static final Duration MAX_RETENTION = Duration.ofDays(366);

	/**
	 * Create settings.
	 * @throws InvalidFencedOperationException if one is out of its bounds
	 */
	public RedissonCoordinatorSettings {
		if (!PREFIX.matcher(keyPrefix).matches()) {
			throw new InvalidFencedOperationException("'fencing.coordinator.key-prefix' is '" + keyPrefix
					+ "'; use letters, digits, dots, colons, underscores and hyphens");
		}
		if (tokenRetention.compareTo(MIN_RETENTION) < 0 || tokenRetention.compareTo(MAX_RETENTION) > 0) {
			throw new InvalidFencedOperationException(
					"'fencing.coordinator.retention' is '" + tokenRetention + "'; use 1 to 366 days");
		}
	}

	/**
	 * The settings that apply when nothing is configured.
	 * @return the defaults
	 */
	public static RedissonCoordinatorSettings defaults() {
		return new RedissonCoordinatorSettings(DEFAULT_KEY_PREFIX, DEFAULT_TOKEN_RETENTION, false);
	}

}
