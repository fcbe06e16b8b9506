package io.fencing.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.fencing.InvalidFencedOperationException;
import io.fencing.OnBusy;
import io.fencing.fence.FencingMode;
import io.fencing.fence.UnfencedWrites;
import io.fencing.fence.jdbc.JoinedTransactions;
import io.fencing.lease.redisson.Eviction;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.core.Ordered;
import org.springframework.util.Assert;
import org.springframework.util.unit.DataSize;

/**
 * The properties of the fencing starter, complete and checked once they are bound.
 *
 * @param enabled whether the starter does anything at all
 * @param mode how far fencing goes: enforce; observe, for adoption, which never waits,
 * never fails and counts; or off
 * @param namespace namespace of all resources; two applications that protect the same
 * data must share it
 * @param unfencedWrites what happens to a write through a fenced storage outside of any
 * operation
 * @param joinedTransactions what happens to an operation that is called inside a
 * transaction of its caller
 * @param lease defaults of leases
 * @param aspect the advice around annotated methods
 * @param context the context of running operations
 * @param coordinator the Redis that grants leases
 * @param logging what logs and messages show
 * @param shutdown the end of the application
 * @param redis the Redis fence
 * @param journal the journal of operations with an identity
 * @param operations settings of single operations, by name; they win over the annotation
 */
@ConfigurationProperties("fencing")
public record FencingProperties(@DefaultValue("true") boolean enabled, @DefaultValue("enforce") FencingMode mode,
		@DefaultValue("default") String namespace, @DefaultValue("allow") UnfencedWrites unfencedWrites,
		@DefaultValue("safe") JoinedTransactions joinedTransactions, @DefaultValue Lease lease,
		@DefaultValue Aspect aspect, @DefaultValue Context context, @DefaultValue Coordinator coordinator,
		@DefaultValue Logging logging, @DefaultValue Shutdown shutdown, @DefaultValue Redis redis,
		@DefaultValue Journal journal, @DefaultValue Map<String, Operation> operations) {

	/**
	 * The shortest time that anything stored is remembered.
	 */
	static final Duration SHORTEST_RETENTION = Duration.ofHours(24);

	private static final Duration LONGEST = Duration.ofDays(366);

	/**
	 * Check how the properties go together.
	 */
	public FencingProperties {
		Assert.hasText(namespace, "'fencing.namespace' must not be blank");
		checkRetention("fencing.coordinator.retention", coordinator.retention(), lease.maxHold());
		checkRetention("fencing.redis.retention", redis.retention(), lease.maxHold());
		checkRetention("fencing.journal.retention", journal.retention(), lease.maxHold());
	}

	/**
	 * Check that nothing is forgotten while an operation may still run.
	 * @param property the name of the property
	 * @param retention its value
	 * @param maxHold the longest time that an operation holds a lease
	 */
	static void checkRetention(String property, Duration retention, Duration maxHold) {
		if (retention.compareTo(SHORTEST_RETENTION) < 0 || retention.compareTo(maxHold) <= 0) {
			throw new InvalidFencedOperationException("'" + property + "' is '" + retention
					+ "'; it must be at least 24 hours and longer than 'fencing.lease.max-hold' ('" + maxHold + "')");
		}
	}

	/**
	 * Refuse a property whose feature this version does not have, rather than ignore it.
	 * @param property the name of the property
	 * @param value its value
	 */
	/**
	 * What happens to writes outside of operations; what is only observed must not fail.
	 * @return what happens to them
	 */
	UnfencedWrites effectiveUnfencedWrites() {
		return switch (this.mode) {
			case ENFORCE -> this.unfencedWrites;
			case OBSERVE -> (this.unfencedWrites == UnfencedWrites.REJECT) ? UnfencedWrites.WARN : this.unfencedWrites;
			case OFF -> UnfencedWrites.ALLOW;
		};
	}

	/**
	 * The Redis fence.
	 *
	 * @param factories names of the RedisConnectionFactory beans to fence; by default all
	 * of them, an empty list fences none
	 * @param retention how long a guard is remembered after the last operation that has
	 * claimed it
	 */
	public record Redis(@Nullable List<String> factories, @DefaultValue("7d") Duration retention) {
	}

	/**
	 * The journal of operations with an identity.
	 *
	 * @param table name of its table, with a schema if need be
	 * @param storage bean name or qualifier of the DataSource that it lives in; by
	 * default the only fenced one
	 * @param fingerprintKey secret that fingerprints of inputs are keyed with, the same
	 * on all nodes
	 * @param maxResultSize the greatest size of a result that is kept
	 * @param timeout the longest time for one statement of the journal's own
	 * @param retention how long results are remembered
	 * @param reconciler looks after operations that have no end
	 */
	public record Journal(@DefaultValue("fencing_operation") String table, @Nullable String storage,
			@Nullable String fingerprintKey, @DefaultValue("64KB") DataSize maxResultSize,
			@DefaultValue("3s") Duration timeout, @DefaultValue("7d") Duration retention,
			@DefaultValue Reconciler reconciler) {

		/**
		 * Refuse what makes no sense.
		 */
		public Journal {
			Assert.isTrue(timeout.compareTo(Duration.ZERO) > 0,
					() -> "'fencing.journal.timeout' is '" + timeout + "'; it must be above zero");
			Assert.isTrue(retention.compareTo(Duration.ofDays(1)) >= 0,
					() -> "'fencing.journal.retention' is '" + retention + "'; it must be 24 hours or more");
			Assert.isTrue(maxResultSize.toBytes() > 0,
					() -> "'fencing.journal.max-result-size' is '" + maxResultSize + "'; it must be above zero");
		}

	}

	/**
	 * Looks after operations with an identity that have no end and that nobody calls
	 * again.
	 *
	 * @param interval the time between two looks of this node; none, if it is zero
	 * @param after how long after its start an attempt is looked after first; each
	 * further look comes after twice that time
	 * @param maxDelay the longest time between two looks at one operation
	 * @param batchSize the greatest number of operations that one look is about
	 */
	public record Reconciler(@DefaultValue("30s") Duration interval, @DefaultValue("1m") Duration after,
			@DefaultValue("10m") Duration maxDelay, @DefaultValue("50") int batchSize) {

		/**
		 * Refuse what makes no sense.
		 */
		public Reconciler {
			Assert.isTrue(after.compareTo(Duration.ofSeconds(1)) >= 0,
					() -> "'fencing.journal.reconciler.after' is '" + after + "'; it must be a second or more");
			Assert.isTrue(maxDelay.compareTo(after) >= 0, () -> "'fencing.journal.reconciler.max-delay' is '" + maxDelay
					+ "'; it must not be shorter than 'fencing.journal.reconciler.after' (" + after + ")");
			Assert.isTrue(batchSize > 0,
					() -> "'fencing.journal.reconciler.batch-size' is " + batchSize + "; it must be above zero");
		}

	}

	/**
	 * Defaults of leases.
	 *
	 * @param time how long one grant or renewal lasts; it is renewed every third of it
	 * @param waitTime how long a call waits for a lease that somebody else has
	 * @param waitInTransaction how long it waits while a transaction of its caller is
	 * open
	 * @param maxHold the longest time that a lease is renewed for one call; past it the
	 * lease is lost
	 * @param minHold the shortest time that a resource stays taken, also when the call
	 * ends earlier
	 */
	public record Lease(@DefaultValue("30s") Duration time, @Name("wait") @DefaultValue("5s") Duration waitTime,
			@DefaultValue("0s") Duration waitInTransaction, @DefaultValue("15m") Duration maxHold,
			@DefaultValue("0s") Duration minHold) {
	}

	/**
	 * The advice around annotated methods.
	 *
	 * @param order its order: inside retries, outside transactions
	 */
	public record Aspect(@DefaultValue("" + DEFAULT_ORDER) int order) {

		/**
		 * Just outside of transactions, which have the lowest precedence by default.
		 */
		static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1;

	}

	/**
	 * The context of running operations.
	 *
	 * @param propagation what carries it to other threads, besides FencingContext.wrap
	 */
	public record Context(@DefaultValue("none") Propagation propagation) {

		/**
		 * What carries the context of an operation to the threads that its tasks run on.
		 */
		public enum Propagation {

			/**
			 * Nothing: a task has a context only if it was wrapped.
			 */
			NONE,

			/**
			 * A TaskDecorator bean, which Spring Boot gives to its executors.
			 */
			TASKS,

			/**
			 * Micrometer's context propagation.
			 */
			MICROMETER

		}

	}

	/**
	 * The Redis that grants leases.
	 *
	 * @param client name of the RedissonClient bean to use where the application has
	 * several
	 * @param url URL of a Redis of its own, such as
	 * {@code rediss://user:password@host:6379}; by default that of
	 * {@code spring.data.redis.*}
	 * @param keyPrefix what every key and channel starts with
	 * @param timeout the longest time that one answer is waited for
	 * @param retention how long the last token of a resource is remembered after its
	 * grant
	 * @param eviction what happens where that Redis may evict leases, as far as it tells
	 * @param fair whether leases are granted in the order of arrival across all instances
	 */
	public record Coordinator(@Nullable String client, @Nullable String url, @DefaultValue("fencing") String keyPrefix,
			@DefaultValue("2s") Duration timeout, @DefaultValue("7d") Duration retention,
			@DefaultValue("warn") Eviction eviction, @DefaultValue("false") boolean fair) {

		/**
		 * Refuse what is not available or makes no sense.
		 */
		public Coordinator {
			Assert.isTrue(timeout.compareTo(Duration.ZERO) > 0 && timeout.compareTo(LONGEST) <= 0,
					() -> "'fencing.coordinator.timeout' is '" + timeout
							+ "'; it must be above zero, and at most 366 days");
		}

	}

	/**
	 * What logs and messages show.
	 *
	 * @param resourceNames whether resources appear by a keyed fingerprint or by their
	 * full names, which are personal data
	 * @param fingerprintKey secret that fingerprints are keyed with, the same on all
	 * nodes; by default made from the namespace, which hides names from a reader but not
	 * from somebody who can guess them
	 */
	public record Logging(@DefaultValue("fingerprint") ResourceNames resourceNames, @Nullable String fingerprintKey) {

		/**
		 * How a resource is shown.
		 */
		public enum ResourceNames {

			/**
			 * By a short keyed fingerprint.
			 */
			FINGERPRINT,

			/**
			 * By its full name.
			 */
			FULL

		}

	}

	/**
	 * The end of the application.
	 *
	 * @param grace how long running operations may go on when the application stops
	 */
	public record Shutdown(@DefaultValue("20s") Duration grace) {

		/**
		 * Refuse what makes no sense.
		 */
		public Shutdown {
			Assert.isTrue(!grace.isNegative() && grace.compareTo(LONGEST) <= 0,
					() -> "'fencing.shutdown.grace' is '" + grace + "'; it must not be negative, and at most 366 days");
		}

	}

	/**
	 * Settings of one operation.
	 *
	 * @param mode how far fencing goes
	 * @param leaseTime how long one grant or renewal of the lease lasts
	 * @param waitTime how long to wait for the lease
	 * @param maxHold the longest time that the lease is renewed
	 * @param minHold the shortest time that the resource stays taken
	 * @param renew whether the lease is renewed
	 * @param onBusy what to do when the lease is not to be had
	 * @param programmatic whether the operation is called by FencedOperations, so that no
	 * annotated method has its name
	 */
	public record Operation(@Nullable FencingMode mode, @Nullable Duration leaseTime, @Nullable Duration waitTime,
			@Nullable Duration maxHold, @Nullable Duration minHold, @Nullable Boolean renew, @Nullable OnBusy onBusy,
			@DefaultValue("false") boolean programmatic) {
	}

}
