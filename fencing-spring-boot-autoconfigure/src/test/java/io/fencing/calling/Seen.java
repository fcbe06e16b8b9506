package io.fencing.calling;

import java.util.stream.Collectors;

import io.fencing.FencingContext;

/**
 * What the body of a shape does: it tells what it is fenced for.
 */
public final class Seen {

	private static volatile String last;

	private Seen() {
	}

	/**
	 * Look and remember.
	 */
	public static String record() {
		FencingContext context = FencingContext.current();
		String seen = (context != null) ? context.getHeld()
			.stream()
			.map((held) -> held.getResource().getName())
			.collect(Collectors.joining(", ")) : "nothing";
		last = seen;
		return seen;
	}

	static String last() {
		return last;
	}

	static void forget() {
		last = null;
	}

}
