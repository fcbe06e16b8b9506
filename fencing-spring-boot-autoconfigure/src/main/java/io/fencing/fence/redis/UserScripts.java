package io.fencing.fence.redis;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The scripts of users that went by, with the check before their source. Thread-safe.
 */
final class UserScripts {

	private static final int MOST_SCRIPTS = 500;

	private final Map<String, FenceScript> scripts = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, FenceScript> eldest) {
			return size() > MOST_SCRIPTS;
		}

	});

	/**
	 * The script of a source.
	 * @param source the user's source
	 * @return the script with the check before it
	 */
	FenceScript of(byte[] source) {
		return this.scripts.computeIfAbsent(FenceScript.sha(source), (sha) -> FenceScript.before(source));
	}

	/**
	 * Remember a script that is loaded: it may be called by its name later.
	 * @param arguments those of the command SCRIPT
	 */
	void load(List<byte[]> arguments) {
		if (arguments.size() == 2 && new String(arguments.get(0), StandardCharsets.US_ASCII).equalsIgnoreCase("LOAD")) {
			of(arguments.get(1));
		}
	}

	/**
	 * The script that the server knows by a name.
	 * @param sha the SHA-1 of the user's source in hexadecimal digits
	 * @return the script with the check before it, {@code null} if its source never went
	 * by
	 */
	@Nullable FenceScript find(byte[] sha) {
		return this.scripts.get(new String(sha, StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT));
	}

}
