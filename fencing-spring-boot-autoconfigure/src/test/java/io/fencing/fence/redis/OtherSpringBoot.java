package io.fencing.fence.redis;

/**
 * Whether the tests run with another Spring Boot than the one that the project is built
 * with.
 */
final class OtherSpringBoot {

	/**
	 * The property that says so.
	 */
	static final String PROPERTY = "fencing.compatibility";

	/**
	 * Why Redisson's connection factory is left out there.
	 */
	static final String NO_REDISSON = "Redisson 4.7 has a connection factory for Spring Data Redis 4.1 only";

	private OtherSpringBoot() {
	}

	static boolean isUsed() {
		return Boolean.getBoolean(PROPERTY);
	}

}
