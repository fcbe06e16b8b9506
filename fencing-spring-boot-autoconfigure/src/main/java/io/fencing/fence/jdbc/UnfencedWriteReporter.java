package io.fencing.fence.jdbc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each place that writes outside of any operation once. Thread-safe.
 */
final class UnfencedWriteReporter {

	private static final Logger logger = LoggerFactory.getLogger(UnfencedWriteReporter.class);

	private static final int MOST_PLACES = 1000;

	private static final StackWalker STACK = StackWalker.getInstance();

	private final Set<String> places = ConcurrentHashMap.newKeySet();

	void report(String storage) {
		if (this.places.size() < MOST_PLACES) {
			String place = STACK.walk((frames) -> frames.filter((frame) -> isApplication(frame.getClassName()))
				.findFirst()
				.map((frame) -> frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber())
				.orElse("unknown"));
			if (this.places.add(place)) {
				logger.warn("A write to storage '{}' at {} goes by no fence; make it in a fenced operation "
						+ "(told once for each place)", storage, place);
			}
		}
	}

	private static boolean isApplication(String type) {
		return !type.startsWith("org.springframework.") && !type.startsWith("java.") && !type.startsWith("jdk.")
				&& !type.startsWith(UnfencedWriteReporter.class.getPackageName() + ".F")
				&& !type.startsWith(UnfencedWriteReporter.class.getName()) && !type.contains("$$SpringCGLIB$$");
	}

}
