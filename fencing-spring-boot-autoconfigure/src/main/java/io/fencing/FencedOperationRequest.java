package io.fencing;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * One call of an operation, complete before anything is asked of the coordinator.
 * Immutable. A duration that is {@code null} comes from {@code fencing.operations.<name>}
 * and then from {@code fencing.*}.
 *
 * @param name the low-cardinality name of the operation
 * @param resources the raw names of what is protected, at least one, none blank
 * @param leaseTime how long one grant lasts
 * @param waitTime how long to wait for it
 * @param maxHold the longest time that it is kept
 * @param minHold the shortest time that it stays taken
 * @param renew whether it is renewed, {@code null} for yes
 * @param onBusy what to do when it is not to be had, {@code null} to fail
 * @param ownTransaction whether the body runs outside a transaction that is active at the
 * call ({@code REQUIRES_NEW}, {@code NOT_SUPPORTED})
 * @param transactionManager bean name of the transaction manager whose transactions the
 * body then runs outside of, {@code null} for every one
 * @param identity makes the call repeatable, {@code null} if it is not
 */
public record FencedOperationRequest(String name, List<String> resources, @Nullable Duration leaseTime,
		@Nullable Duration waitTime, @Nullable Duration maxHold, @Nullable Duration minHold, @Nullable Boolean renew,
		@Nullable OnBusy onBusy, boolean ownTransaction, @Nullable String transactionManager,
		@Nullable OperationIdentity identity) {

	/**
	 * Create a request.
	 * @throws InvalidFencedOperationException if a name is blank or no resource is named
	 */
	public FencedOperationRequest {
		if (!StringUtils.hasText(name)) {
			throw new InvalidFencedOperationException("An operation needs a name");
		}
		if (resources.isEmpty()) {
			throw new InvalidFencedOperationException("Operation '" + name + "' names no resource; name at least one");
		}
		for (String resource : resources) {
			if (!StringUtils.hasText(resource)) {
				throw new InvalidFencedOperationException(
						"Operation '" + name + "' names a blank resource; every resource needs a text");
			}
		}
		resources = List.copyOf(resources);
	}

	/**
	 * Whether the body runs outside the transactions of a storage.
	 * @param managedBy tells whether a transaction manager, by its bean name, is the one
	 * that all transactions on the storage belong to
	 * @return whether it does
	 */
	public boolean runsOutside(Predicate<String> managedBy) {
		return this.ownTransaction && (this.transactionManager == null || managedBy.test(this.transactionManager));
	}

	/**
	 * Ask for resources with the settings of application.yml.
	 * @param name the name of the operation
	 * @param resources the resources
	 * @return the request
	 */
	public static FencedOperationRequest of(String name, String... resources) {
		return builder(name).resources(List.of(resources)).build();
	}

	/**
	 * Start a request.
	 * @param name the name of the operation
	 * @return a builder
	 */
	public static Builder builder(String name) {
		return new Builder(name);
	}

	/**
	 * Collects the parts of a request. Not thread-safe.
	 */
	public static final class Builder {

		private final String name;

		private final List<String> resources = new ArrayList<>();

		private @Nullable Duration leaseTime;

		private @Nullable Duration waitTime;

		private @Nullable Duration maxHold;

		private @Nullable Duration minHold;

		private @Nullable Boolean renew;

		private @Nullable OnBusy onBusy;

		private boolean ownTransaction;

		private @Nullable String transactionManager;

		private @Nullable String operationId;

		private @Nullable Object input;

		private @Nullable Type resultType;

		private boolean external;

		private Set<Class<? extends Throwable>> notRepeatableFor = Set.of();

		private OperationTransaction transaction = OperationTransaction.DEFAULT;

		Builder(String name) {
			this.name = name;
		}

		/**
		 * Add a resource.
		 * @param resource its raw name
		 * @return this builder
		 */
		public Builder resource(String resource) {
			this.resources.add(resource);
			return this;
		}

		/**
		 * Add resources.
		 * @param resources their raw names
		 * @return this builder
		 */
		public Builder resources(Iterable<String> resources) {
			resources.forEach(this.resources::add);
			return this;
		}

		/**
		 * Set how long one grant lasts.
		 * @param leaseTime the time
		 * @return this builder
		 */
		public Builder leaseTime(@Nullable Duration leaseTime) {
			this.leaseTime = leaseTime;
			return this;
		}

		/**
		 * Set how long to wait for the lease.
		 * @param waitTime the time
		 * @return this builder
		 */
		public Builder waitTime(@Nullable Duration waitTime) {
			this.waitTime = waitTime;
			return this;
		}

		/**
		 * Set the longest time that the lease is kept.
		 * @param maxHold the time
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
			return this;
		}

		/**
		 * Set the shortest time that the lease stays taken.
		 * @param minHold the time
		 * @return this builder
		 */
		public Builder minHold(@Nullable Duration minHold) {
			this.minHold = minHold;
			return this;
		}

		/**
		 * Set whether the watchdog renews the lease.
		 * @param renew whether it does
		 * @return this builder
		 */
		public Builder renew(@Nullable Boolean renew) {
			this.renew = renew;
			return this;
		}

		/**
		 * Set what to do when the lease is not to be had.
		 * @param onBusy what to do
		 * @return this builder
		 */
		public Builder onBusy(@Nullable OnBusy onBusy) {
			this.onBusy = onBusy;
			return this;
		}

		/**
		 * Say that the body runs outside a transaction that is active at the call.
		 * @param ownTransaction whether it does
		 * @return this builder
		 */
		public Builder ownTransaction(boolean ownTransaction) {
			this.ownTransaction = ownTransaction;
			this.transactionManager = null;
			return this;
		}

		/**
		 * Say that the body runs outside the transactions of one transaction manager,
		 * while those of others stay active.
		 * @param transactionManager its bean name, {@code null} if the body leaves none
		 * @return this builder
		 */
		public Builder ownTransaction(@Nullable String transactionManager) {
			this.ownTransaction = transactionManager != null;
			this.transactionManager = transactionManager;
			return this;
		}

		/**
		 * Make the call repeatable: the journal records its result, and a later call with
		 * the same identity is answered with it. Needs a {@link #resultType}.
		 * @param operationId the caller's stable id of one logical request
		 * @return this builder
		 * @throws InvalidFencedOperationException if it is {@code null}: a lost id must
		 * not make the call repeat
		 */
		public Builder operationId(String operationId) {
			if (operationId == null) {
				throw new InvalidFencedOperationException(
						"Operation '" + this.name + "' has an identity that is null; give it one, or call it without");
			}
			this.operationId = operationId;
			return this;
		}

		/**
		 * Set what counts as the input when the same identity comes again.
		 * @param input a value that JSON can express
		 * @return this builder
		 */
		public Builder input(@Nullable Object input) {
			this.input = input;
			return this;
		}

		/**
		 * Set what the recorded result is read as.
		 * @param resultType the type, {@code void.class} for none
		 * @return this builder
		 */
		public Builder resultType(Type resultType) {
			this.resultType = resultType;
			return this;
		}

		/**
		 * Say that the body has effects outside the database that holds the journal.
		 * @param external whether it has
		 * @return this builder
		 */
		public Builder external(boolean external) {
			this.external = external;
			return this;
		}

		/**
		 * Set the exceptions that are recorded as the final answer.
		 * @param types their types
		 * @return this builder
		 */
		public Builder notRepeatableFor(Collection<Class<? extends Throwable>> types) {
			this.notRepeatableFor = Set.copyOf(types);
			return this;
		}

		/**
		 * Set the transaction that a body with an identity runs in.
		 * @param transaction the transaction
		 * @return this builder
		 */
		public Builder transaction(OperationTransaction transaction) {
			this.transaction = transaction;
			return this;
		}

		private @Nullable OperationIdentity identity() {
			if (this.operationId == null) {
				return null;
			}
			if (this.resultType == null) {
				throw new InvalidFencedOperationException("Operation '" + this.name
						+ "' has an identity, but no type of its result; set 'resultType', void.class for none");
			}
			try {
				return new OperationIdentity(this.operationId, this.input, this.resultType, this.external,
						this.notRepeatableFor, this.transaction);
			}
			catch (InvalidFencedOperationException ex) {
				throw new InvalidFencedOperationException("Operation '" + this.name + "': " + ex.getMessage(), ex);
			}
		}

		/**
		 * Complete the request.
		 * @return the request
		 * @throws InvalidFencedOperationException if a name is blank or no resource was
		 * named
		 */
		public FencedOperationRequest build() {
			return new FencedOperationRequest(this.name, this.resources, this.leaseTime, this.waitTime, this.maxHold,
					this.minHold, this.renew, this.onBusy, this.ownTransaction, this.transactionManager, identity());
		}

	}

}
