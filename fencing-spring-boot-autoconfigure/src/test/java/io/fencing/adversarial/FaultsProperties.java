package io.fencing.adversarial;

import java.time.Duration;

/**
 * The system properties that say how long a run takes and what it decides.
 */
public final class FaultsProperties {

	private FaultsProperties() {
	}

	/**
	 * Whether everything is tried, for as long as it takes.
	 * @return whether there is {@code -Dfencing.faults}
	 */
	public static boolean isFullForm() {
		return System.getProperty("fencing.faults") != null;
	}

	/**
	 * How long to run: {@code fencing.faults.seconds}, 60 by default, with
	 * {@code -Dfencing.faults}.
	 * @param shortForm how long without it
	 * @return the time
	 */
	public static Duration time(Duration shortForm) {
		return isFullForm() ? Duration.ofSeconds(Long.getLong("fencing.faults.seconds", 60)) : shortForm;
	}

	/**
	 * What the decisions of a run follow from: {@code fencing.faults.seed}, drawn anew by
	 * default.
	 * @return the seed
	 */
	public static long seed() {
		return Long.getLong("fencing.faults.seed", System.nanoTime());
	}

}
