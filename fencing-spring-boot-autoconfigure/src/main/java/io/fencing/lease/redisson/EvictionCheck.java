package io.fencing.lease.redisson;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.fencing.InvalidFencedOperationException;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.api.redisnode.RedisNode.InfoSection;
import org.redisson.api.redisnode.RedisNodeAsync;
import org.redisson.api.redisnode.RedisNodes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks all masters, when a client is there, whether they may evict leases: all that is
 * kept for leases has an end, so each {@code maxmemory-policy} but {@code noeviction}
 * may, also one that spares keys without an end. Servers that do not answer to INFO, for
 * lack of the right or for other reasons, are taken to evict nothing. Thread-safe.
 */
public final class EvictionCheck implements Consumer<RedissonClient> {

	private static final Logger logger = LoggerFactory.getLogger(EvictionCheck.class);

	private static final String POLICY = "maxmemory_policy";

	private static final String NO_EVICTION = "noeviction";

	private final Eviction eviction;

	private final Duration timeout;

	private final AtomicBoolean told = new AtomicBoolean();

	/**
	 * Create a check.
	 * @param eviction what is done where leases may be evicted
	 * @param timeout the longest time to wait for the answers, if it fails
	 */
	public EvictionCheck(Eviction eviction, Duration timeout) {
		this.eviction = eviction;
		this.timeout = timeout;
	}

	/**
	 * Check. Waits for the answers only if it may fail.
	 * @throws InvalidFencedOperationException if leases may be evicted
	 */
	@Override
	public void accept(RedissonClient client) {
		if (this.eviction == Eviction.IGNORE) {
			return;
		}
		CompletableFuture<Set<String>> policies = evictingPolicies(client).completeOnTimeout(Set.of(),
				this.timeout.toMillis(), TimeUnit.MILLISECONDS);
		if (this.eviction == Eviction.FAIL) {
			refuse(policies.join());
		}
		else {
			policies.thenAccept(this::warn);
		}
	}

	private static void refuse(Set<String> policies) {
		if (!policies.isEmpty()) {
			throw new InvalidFencedOperationException(
					describe(policies) + " ('fencing.coordinator.eviction=warn' would allow it)");
		}
	}

	private void warn(Set<String> policies) {
		if (!policies.isEmpty() && this.told.compareAndSet(false, true)) {
			logger.warn("{} (an evicted lease is lost, its operation is refused; "
					+ "'fencing.coordinator.eviction=ignore' ends this warning)", describe(policies));
		}
	}

	private static String describe(Set<String> policies) {
		return "The Redis that grants leases may evict them, its 'maxmemory-policy' is '"
				+ String.join("', '", policies) + "'; set it to '" + NO_EVICTION
				+ "', or give leases a Redis of their own by 'fencing.coordinator.url'";
	}

	private static CompletableFuture<Set<String>> evictingPolicies(RedissonClient client) {
		List<CompletableFuture<@Nullable String>> answers;
		try {
			answers = masters(client).stream().map(EvictionCheck::policy).toList();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.completedFuture(withoutAnswer(ex));
		}
		return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
			.thenApply((ignored) -> answers.stream()
				.map(CompletableFuture::join)
				.filter(Objects::nonNull)
				.filter((policy) -> !policy.equals(NO_EVICTION))
				.collect(Collectors.toCollection(TreeSet::new)));
	}

	private static Collection<? extends RedisNodeAsync> masters(RedissonClient client) {
		if (client.getConfig().isClusterConfig()) {
			return client.getRedisNodes(RedisNodes.CLUSTER).getMasters();
		}
		return List.of(client.getConfig().isSentinelConfig()
				? client.getRedisNodes(RedisNodes.SENTINEL_MASTER_SLAVE).getMaster()
				: client.getRedisNodes(RedisNodes.MASTER_SLAVE).getMaster());
	}

	private static CompletableFuture<@Nullable String> policy(RedisNodeAsync master) {
		return master.infoAsync(InfoSection.MEMORY)
			.toCompletableFuture()
			.<@Nullable String>thenApply((memory) -> memory.get(POLICY))
			.exceptionally((failure) -> {
				withoutAnswer(failure);
				return null;
			});
	}

	private static Set<String> withoutAnswer(Throwable failure) {
		logger.debug("It cannot be told whether Redis may evict leases", failure);
		return Set.of();
	}

}
