package io.fencing.fence.jdbc;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.fencing.UnfencedWriteException;
import io.fencing.fence.UnfencedWrites;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets writes outside of any operation pass, tells of them or refuses them, as
 * {@code fencing.unfenced-writes} says. Thread-safe.
 */
final class UnfencedWriteGuard {

	private static final Logger logger = LoggerFactory.getLogger(UnfencedWriteGuard.class);

	private static final int MOST_PLACES = 1000;

	private static final List<String> OWN = Stream
		.of(UnfencedWriteGuard.class, FencedStatements.class, FencedTemplateInterceptor.class, FencedJdbcClient.class)
		.map(Class::getName)
		.toList();

	private static final StackWalker STACK = StackWalker.getInstance();

	// the places told of already
	private final Set<String> places = ConcurrentHashMap.newKeySet();

	/**
	 * Check a statement.
	 * @param fence the fence of its data source
	 * @param statement the statement
	 * @throws UnfencedWriteException if it is a write and writes are refused
	 */
	void check(JdbcFence fence, TemplateStatement statement) {
		UnfencedWrites policy = fence.getSettings().unfencedWrites();
		if (policy == UnfencedWrites.ALLOW || statement.isPlainRead(fence) || statement.isUnfenced(fence)) {
			return;
		}
		fence.getListeners().onUnfenced(null, fence.getStorage());
		if (policy == UnfencedWrites.REJECT) {
			throw new UnfencedWriteException(null,
					"a write to storage '" + fence.getStorage()
							+ "' has no token, and 'fencing.unfenced-writes' is 'reject'",
					"make it in a fenced operation");
		}
		warnOnce(fence.getStorage());
	}

	private void warnOnce(String storage) {
		if (this.places.size() < MOST_PLACES) {
			String place = place();
			if (this.places.add(place)) {
				logger.warn("A write to storage '{}' at {} goes by no fence; make it in a fenced operation "
						+ "(told once for each place)", storage, place);
			}
		}
	}

	private static String place() {
		return STACK.walk((frames) -> frames.filter((frame) -> isApplication(frame.getClassName()))
			.findFirst()
			.map((frame) -> frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber())
			.orElse("an unknown place"));
	}

	private static boolean isApplication(String type) {
		return !type.startsWith("org.springframework.") && !type.startsWith("java.") && !type.startsWith("jdk.")
				&& !type.contains("$$") && OWN.stream().noneMatch(type::startsWith);
	}

}
