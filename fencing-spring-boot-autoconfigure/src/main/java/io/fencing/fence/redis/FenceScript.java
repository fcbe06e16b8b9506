package io.fencing.fence.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Collectors;

import org.springframework.core.io.ClassPathResource;

/**
 * A Lua script that checks the guards before anything else, and the name that Redis
 * caches it under. The text is kept as Latin-1, so that every byte of a user's script
 * stays what it is. Immutable, as long as nobody writes into its arrays.
 */
final class FenceScript {

	private static final String CHECK = "do " + oneLine(read("check.lua")) + " end ";

	private static final String CHECK_AND_ANSWER = CHECK + oneLine(read("answer.lua")) + " ";

	/**
	 * Only checks.
	 */
	static final FenceScript CHECK_ALONE = of(CHECK + "return 1");

	/**
	 * Runs one command.
	 */
	static final FenceScript COMMAND = of(CHECK_AND_ANSWER + oneLine(read("command.lua")));

	/**
	 * Runs one command with more arguments than Lua takes at once.
	 */
	static final FenceScript LARGE = of(CHECK_AND_ANSWER + oneLine(read("large.lua")));

	/**
	 * Runs several commands.
	 */
	static final FenceScript BUNDLE = of(CHECK_AND_ANSWER + oneLine(read("bundle.lua")));

	/**
	 * Runs one command where there is one guard that must show the token already.
	 */
	static final FenceScript EQUAL = of(oneLine(read("equal.lua")));

	private final byte[] text;

	private final byte[] sha;

	private FenceScript(byte[] text, byte[] sha) {
		this.text = text;
		this.sha = sha;
	}

	/**
	 * The source.
	 * @return its bytes
	 */
	byte[] text() {
		return this.text;
	}

	/**
	 * The name that Redis gives to the script.
	 * @return the SHA-1 of the source in hexadecimal digits
	 */
	byte[] sha() {
		return this.sha;
	}

	/**
	 * Put the check before a user's script. It adds no line, so that errors name the
	 * lines that the user knows.
	 * @param source the user's script
	 * @return the script
	 */
	static FenceScript before(byte[] source) {
		String text = new String(source, StandardCharsets.ISO_8859_1);
		int body = text.startsWith("#!") ? text.indexOf('\n') + 1 : 0;
		return of(text.substring(0, body) + CHECK + text.substring(body));
	}

	private static FenceScript of(String text) {
		byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
		return new FenceScript(bytes, sha(bytes).getBytes(StandardCharsets.US_ASCII));
	}

	/**
	 * The name that Redis gives to a script.
	 * @param source the source of the script
	 * @return its SHA-1 in lower-case hexadecimal digits
	 */
	static String sha(byte[] source) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(source));
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

	private static String oneLine(String text) {
		return Arrays.stream(text.split("\n"))
			.map(String::strip)
			.filter((line) -> !line.startsWith("--"))
			.collect(Collectors.joining(" "));
	}

	private static String read(String file) {
		try {
			return new ClassPathResource(file, FenceScript.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
