package io.fencing.lease.redisson;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

import org.springframework.core.io.ClassPathResource;

/**
 * A Lua script and the name that Redis caches it under. Immutable.
 *
 * @param text the source
 * @param sha the SHA-1 of the source in hexadecimal digits
 */
record LuaScript(String text, String sha) {

	/**
	 * Make a script.
	 * @param text the source
	 * @return the script
	 */
	static LuaScript of(String text) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
			return new LuaScript(text, HexFormat.of().formatHex(hash));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

	/**
	 * Read a script that lies next to this class.
	 * @param files the names of its parts
	 * @return the script
	 */
	static LuaScript read(String... files) {
		StringBuilder text = new StringBuilder();
		try {
			for (String file : files) {
				text.append(new ClassPathResource(file, LuaScript.class).getContentAsString(StandardCharsets.UTF_8));
			}
			return of(text.toString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
