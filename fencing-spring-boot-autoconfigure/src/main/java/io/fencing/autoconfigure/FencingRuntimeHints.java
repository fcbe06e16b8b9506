package io.fencing.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * The files that the starter reads, for a native image.
 */
final class FencingRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/fencing/lease/redisson/*.lua").registerPattern("io/fencing/jdbc/*.sql");
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.postgresql.core.BaseConnection",
					(driver) -> driver.withMembers(MemberCategory.INVOKE_PUBLIC_METHODS));
	}

}
