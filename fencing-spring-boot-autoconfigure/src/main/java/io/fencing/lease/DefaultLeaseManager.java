package io.fencing.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.fencing.ApplicationShutdownException;
import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.FencingListeners;
import io.fencing.HeldResource;
import io.fencing.LossReason;
import io.fencing.lease.LeaseCoordinator.Renewals;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.Assert;

/**
 * The {@link LeaseManager} on top of any {@link LeaseCoordinator}. Thread-safe.
 *
 * <p>
 * A wait is bounded by the wait time of its terms, all resources together; with a wait
 * time of zero each resource is asked for exactly once, and the command time-out bounds
 * all answers together. Waiting can be interrupted: the flag is kept, what was acquired
 * is given back. Giving back is not interruptible and takes no longer than the command
 * time-out for all leases together.
 */
public final class DefaultLeaseManager implements LeaseManager, AutoCloseable {

	/**
	 * The default of the longest time to wait for one answer of the coordinator.
	 */
	public static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private static final Logger logger = LoggerFactory.getLogger(DefaultLeaseManager.class);

	private final LeaseCoordinator coordinator;

	private final FencingListeners listeners;

	private final MonotonicClock clock;

	private final Duration commandTimeout;

	private final OwnerIds owners = new OwnerIds();

	private final LossReporter losses;

	private final BackgroundReturns returns;

	private final LeaseAcquirer acquirer;

	private final Watchdog watchdog;

	/**
	 * Create a manager and start its watchdog.
	 * @param coordinator the coordinator
	 * @param listeners those who are told what happens to leases
	 * @param clock the clock of local deadlines
	 * @param commandTimeout the longest time to wait for one answer of the coordinator,
	 * positive
	 */
	public DefaultLeaseManager(LeaseCoordinator coordinator, FencingListeners listeners, MonotonicClock clock,
			Duration commandTimeout) {
		Assert.isTrue(commandTimeout.compareTo(Duration.ZERO) > 0, "'commandTimeout' must be positive");
		this.coordinator = coordinator;
		this.listeners = listeners;
		this.clock = clock;
		this.commandTimeout = commandTimeout;
		this.losses = new LossReporter(listeners);
		this.returns = new BackgroundReturns(coordinator, clock, commandTimeout);
		this.acquirer = new LeaseAcquirer(coordinator, clock, commandTimeout, this.returns);
		this.watchdog = new Watchdog(coordinator, this.losses, clock, commandTimeout);
		this.watchdog.start();
	}

	@Override
	public List<Lease> acquire(LeaseTerms terms, List<FencedResource> resources) {
		this.watchdog.beginCall();
		try {
			return acquireAll(terms, resources);
		}
		finally {
			this.watchdog.endCall();
		}
	}

	private List<Lease> acquireAll(LeaseTerms terms, List<FencedResource> resources) {
		LeaseAcquirer.Wait wait = this.acquirer.start(terms, this.owners.next());
		List<Lease> leases = new ArrayList<>(resources.size());
		boolean complete = false;
		try {
			for (FencedResource resource : resources) {
				Lease lease = wait.acquire(resource);
				// from here on, since the next one may take longer than this one lasts
				leases.add(lease);
				if (!this.watchdog.watch(lease, terms)) {
					// granted while the application stopped
					throw new ApplicationShutdownException(terms.operation(), resource);
				}
			}
			for (Lease lease : leases) {
				logger.debug("Operation '{}' on resource {}: leased with token {}", terms.operation(),
						lease.getResource(), lease.getToken());
				this.listeners.onAcquired(terms.operation(), lease, wait.getWaited());
			}
			complete = true;
			return leases;
		}
		finally {
			if (!complete) {
				takeBack(leases);
			}
		}
	}

	private void takeBack(List<Lease> leases) {
		long startedAt = this.clock.nanoTime();
		for (Lease lease : leases) {
			this.watchdog.unwatch(lease);
			giveBack(lease, Duration.ZERO, timeLeft(startedAt));
		}
	}

	@Override
	public @Nullable RuntimeException release(Collection<? extends HeldResource> leases) {
		this.watchdog.beginCall();
		try {
			return releaseAll(leases);
		}
		finally {
			this.watchdog.endCall();
		}
	}

	private @Nullable RuntimeException releaseAll(Collection<? extends HeldResource> leases) {
		Map<Lease, LeaseTerms> ours = new LinkedHashMap<>();
		List<HeldResource> inReverse = new ArrayList<>(leases);
		Collections.reverse(inReverse);
		for (HeldResource held : inReverse) {
			Lease lease = lease(held);
			LeaseTerms terms = this.watchdog.unwatch(lease);
			if (terms != null) {
				ours.put(lease, terms);
			}
		}
		long startedAt = this.clock.nanoTime();
		RuntimeException first = null;
		for (Map.Entry<Lease, LeaseTerms> one : ours.entrySet()) {
			Lease lease = one.getKey();
			LeaseTerms terms = one.getValue();
			RuntimeException failure = giveBack(lease, keepFor(lease, terms), timeLeft(startedAt));
			this.listeners.onReleased(terms.operation(), lease, lease.getHeldFor(), failure);
			first = (first != null) ? first : failure;
		}
		return first;
	}

	private @Nullable RuntimeException giveBack(Lease lease, Duration keepFor, Duration timeout) {
		try {
			if (this.coordinator.release(lease, keepFor, timeout)) {
				logger.debug("Operation '{}' on resource {}: gave back the lease with token {}", lease.getOperation(),
						lease.getResource(), lease.getToken());
			}
			else {
				lease.lose(LossReason.REFUSED);
				this.losses.reportIfLost(lease);
			}
			return null;
		}
		catch (RuntimeException ex) {
			logger.warn(
					"Operation '{}' on resource {}: the lease with token {} could not be given back, this is tried again "
							+ "until it ends by its time; the operation has ended as it has ended ({})",
					lease.getOperation(), lease.getResource(), lease.getToken(), problem(ex));
			logger.debug("Why the lease with token {} could not be given back", lease.getToken(), ex);
			this.returns.release(lease, keepFor);
			return ex;
		}
	}

	private static @Nullable String problem(RuntimeException failure) {
		return (failure instanceof CoordinatorUnavailableException ex) ? ex.getProblem() : failure.getMessage();
	}

	private static Duration keepFor(Lease lease, LeaseTerms terms) {
		Duration rest = terms.minHold().minus(lease.getHeldFor());
		return rest.isNegative() ? Duration.ZERO : rest;
	}

	private Duration timeLeft(long startedAt) {
		return this.commandTimeout.minusNanos(this.clock.nanoTime() - startedAt);
	}

	@Override
	public boolean isOurs(HeldResource held) {
		Lease lease = lease(held);
		long sentAt = this.clock.nanoTime();
		try {
			Renewals answers = this.coordinator.renew(Set.of(lease), this.commandTimeout);
			if (answers.refused().contains(lease)) {
				lease.lose(LossReason.REFUSED);
				this.losses.reportIfLost(lease);
			}
			return answers.renewed().contains(lease) && lease.extend(sentAt);
		}
		catch (CoordinatorUnavailableException ex) {
			logger.debug("Operation '{}' on resource {}: it cannot be told whether the lease with token {} is ours",
					lease.getOperation(), lease.getResource(), lease.getToken(), ex);
			return false;
		}
	}

	private static Lease lease(HeldResource held) {
		Assert.isInstanceOf(Lease.class, held, "Only what this manager has leased can be given back to it");
		return (Lease) held;
	}

	@Override
	public void lift(FencedResource resource, long token) {
		this.coordinator.lift(resource, token, this.commandTimeout);
	}

	@Override
	public void start() {
		this.watchdog.resume();
		this.acquirer.accept();
	}

	@Override
	public boolean shutdown(Duration grace) {
		this.acquirer.refuse();
		return this.watchdog.stop(grace);
	}

	/**
	 * Stop at once, for good.
	 */
	@Override
	public void close() {
		shutdown(Duration.ZERO);
		this.returns.close();
		this.watchdog.close();
	}

	/**
	 * How many leases this JVM holds now.
	 * @return those acquired and not given back, lost ones included
	 */
	public int getHeldCount() {
		return this.watchdog.size();
	}

}
