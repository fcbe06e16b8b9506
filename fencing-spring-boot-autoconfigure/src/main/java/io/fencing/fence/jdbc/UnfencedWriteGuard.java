package io.fencing.fence.jdbc;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.fencing.FencingException;
import io.fencing.UnfencedWriteException;
import io.fencing.context.OperationContext;
import io.fencing.fence.UnfencedWrites;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets writes that go by no fence pass, tells of them or refuses them, as
 * {@code fencing.unfenced-writes} says. Thread-safe.
 */
final class UnfencedWriteGuard {

	private static final Logger logger = LoggerFactory.getLogger(UnfencedWriteGuard.class);

	private static final int MOST_PLACES = 1000;

	private static final List<String> OWN = Stream
		.of(UnfencedWriteGuard.class, FencedStatements.class, FencedTemplateInterceptor.class, FencedJdbcClient.class,
				FencedConnections.class, Watched.class, WatchedConnection.class, FencedDataSourcePostProcessor.class,
				OwnTransactions.class)
		.map(Class::getName)
		.toList();

	private static final List<String> LIBRARIES = List.of("java.", "jdk.", "org.springframework.", "org.hibernate.",
			"org.apache.ibatis.", "org.jooq.", "com.zaxxer.");

	private static final StackWalker STACK = StackWalker.getInstance();

	// the places told of already
	private final Set<String> places = ConcurrentHashMap.newKeySet();

	/**
	 * Check a statement outside of any operation.
	 * @param fence the fence of its data source
	 * @param statement the statement
	 * @throws UnfencedWriteException if it is a write and writes are refused
	 */
	void check(JdbcFence fence, TemplateStatement statement) {
		UnfencedWrites policy = fence.getSettings().unfencedWrites();
		if (policy == UnfencedWrites.ALLOW || isNoWrite(fence.getSettings(), statement)) {
			return;
		}
		fence.getListeners().onUnfenced(null, fence.getStorage());
		if (policy == UnfencedWrites.REJECT) {
			throw new UnfencedWriteException(null,
					"a write to storage '" + fence.getStorage()
							+ "' has no token, and 'fencing.unfenced-writes' is 'reject'",
					"make it in a fenced operation");
		}
		warnOnce("storage '" + fence.getStorage() + "'", "make it in a fenced operation");
	}

	/**
	 * Check a statement of an operation that no fence stands in front of. It is told in
	 * any case: the operation looks protected there.
	 * @param fences the fences
	 * @param fence the fence that it bypasses, {@code null} if its data source has none
	 * @param context the operation
	 * @param statement the statement
	 * @return whether it was told
	 * @throws UnfencedWriteException if it is a write and writes are refused
	 * @throws FencingException if it is a write and the operation has been refused before
	 */
	boolean checkInside(JdbcFences fences, @Nullable JdbcFence fence, OperationContext context,
			TemplateStatement statement) {
		if (isNoWrite(fences.getSettings(), statement)) {
			return false;
		}
		FencingException refusal = context.getRefusal();
		if (refusal != null) {
			throw refusal;
		}
		fences.getListeners().onUnfenced(context.getOperation(), (fence != null) ? fence.getStorage() : null);
		String where = (fence != null) ? "storage '" + fence.getStorage() + "' on a connection that does not hold"
				: "a DataSource that has no fence";
		String remedy = (fence != null) ? "make it through a template or a transaction manager that is a bean"
				: "name it in 'fencing.jdbc.storages', or in 'fencing.jdbc.excluded-storages' if it needs none";
		if (fences.getSettings().unfencedWrites() == UnfencedWrites.REJECT) {
			throw context.refuse(new UnfencedWriteException(context.getOperation(),
					"a write goes to " + where + ", and 'fencing.unfenced-writes' is 'reject'", remedy));
		}
		warnOnce(where, remedy);
		return true;
	}

	private static boolean isNoWrite(JdbcFenceSettings settings, TemplateStatement statement) {
		return statement.isPlainRead(settings) || statement.isUnfenced(settings);
	}

	private void warnOnce(String storage, String remedy) {
		if (this.places.size() < MOST_PLACES) {
			String place = place();
			if (this.places.add(place)) {
				logger.warn("A write to {} at {} goes by no fence; {} (told once for each place)", storage, place,
						remedy);
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
		return !type.contains("$$") && !type.contains("$Proxy") && LIBRARIES.stream().noneMatch(type::startsWith)
				&& OWN.stream().noneMatch(type::startsWith);
	}

}
