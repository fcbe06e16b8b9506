package io.fencing.testing;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.fencing.CoordinatorUnavailableException;
import io.fencing.FencedResource;
import io.fencing.lease.Lease;
import io.fencing.lease.LeaseAnswer;
import io.fencing.lease.LeaseCoordinator;
import io.fencing.lease.LeaseRequest;
import io.fencing.lease.MonotonicClock;

/**
 * A coordinator in memory that keeps the same contract as the real one, measures time
 * with a given clock, and can be made to fail as a real one cannot. Thread-safe.
 */
public final class InMemoryLeaseCoordinator implements LeaseCoordinator {

	private static final long SOME_DAY_IN_MICROS = 1_700_000_000_000_000L;

	private final MonotonicClock clock;

	private final long startedAt;

	private final Map<FencedResource, Entry> leases = new HashMap<>();

	private final Map<FencedResource, Long> tokens = new HashMap<>();

	private final List<Subscription> subscriptions = new CopyOnWriteArrayList<>();

	private long wallClockOffset;

	private boolean unavailable;

	private int answersToLose;

	private int requestsToRefuse;

	private int requests;

	/**
	 * Create one.
	 */
	public InMemoryLeaseCoordinator(MonotonicClock clock) {
		this.clock = clock;
		this.startedAt = clock.nanoTime();
	}

	/**
	 * Forget everything, as FLUSHALL does.
	 */
	public synchronized void forgetAll() {
		this.leases.clear();
		this.tokens.clear();
	}

	/**
	 * Forget the last token of a resource.
	 */
	public synchronized void forgetToken(FencedResource resource) {
		this.tokens.remove(resource);
	}

	/**
	 * Forget the lease of a resource, as if it had been evicted.
	 */
	public synchronized void forgetLease(FencedResource resource) {
		this.leases.remove(resource);
	}

	/**
	 * Set the wall clock of the coordinator back or forth.
	 */
	public synchronized void setWallClock(Duration offset) {
		this.wallClockOffset = offset.toNanos() / 1_000;
	}

	/**
	 * Answer nothing and do nothing.
	 */
	public synchronized void setUnavailable(boolean unavailable) {
		this.unavailable = unavailable;
	}

	/**
	 * Do what the next requests ask for, but lose the answers.
	 */
	public synchronized void loseAnswers(int count) {
		this.answersToLose = count;
	}

	/**
	 * Do nothing of what the next requests ask for, and answer nothing.
	 */
	public synchronized void refuseNext(int count) {
		this.requestsToRefuse = count;
	}

	/**
	 * How many requests there were, of any kind.
	 */
	public synchronized int getRequests() {
		return this.requests;
	}

	/**
	 * Whether somebody has the lease, or it is kept taken.
	 */
	public synchronized boolean isTaken(FencedResource resource) {
		return find(resource) != null;
	}

	/**
	 * The time until the lease expires, zero if there is none.
	 */
	public synchronized Duration getRemaining(FencedResource resource) {
		Entry entry = find(resource);
		return (entry != null) ? Duration.ofNanos(entry.until() - this.clock.nanoTime()) : Duration.ZERO;
	}

	/**
	 * How many subscriptions are open.
	 */
	public int getSubscriptions() {
		return this.subscriptions.size();
	}

	@Override
	public synchronized LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
		receive();
		FencedResource resource = request.resource();
		Entry present = find(resource);
		LeaseAnswer answer;
		if (present != null && !present.owner().equals(request.owner())) {
			answer = new LeaseAnswer.Busy(getRemaining(resource));
		}
		else {
			long token = (present != null) ? present.token() : issue(resource);
			this.leases.put(resource, new Entry(request.owner(), token, until(request.leaseTime())));
			answer = new LeaseAnswer.Granted(token);
		}
		answer();
		return answer;
	}

	private long issue(FencedResource resource) {
		long micros = SOME_DAY_IN_MICROS + (this.clock.nanoTime() - this.startedAt) / 1_000 + this.wallClockOffset;
		return this.tokens.merge(resource, micros, (last, now) -> Math.max(last + 1, now));
	}

	@Override
	public synchronized Renewals renew(Collection<Lease> leases, Duration timeout) {
		receive();
		Set<Lease> renewed = new HashSet<>();
		Set<Lease> refused = new HashSet<>();
		for (Lease lease : leases) {
			if (isOwner(lease.getResource(), lease.getToken().owner())) {
				this.leases.put(lease.getResource(),
						new Entry(lease.getToken().owner(), lease.getToken().value(), until(lease.getLeaseTime())));
				renewed.add(lease);
			}
			else {
				refused.add(lease);
			}
		}
		answer();
		return new Renewals(renewed, refused);
	}

	@Override
	public synchronized boolean release(Lease lease, Duration keepFor, Duration timeout) {
		return release(lease.getResource(), lease.getToken().owner(), keepFor);
	}

	@Override
	public synchronized void abandon(LeaseRequest request, Duration timeout) {
		release(request.resource(), request.owner(), Duration.ZERO);
	}

	private boolean release(FencedResource resource, String owner, Duration keepFor) {
		receive();
		boolean ours = isOwner(resource, owner);
		if (ours) {
			if (keepFor.isZero()) {
				this.leases.remove(resource);
			}
			else {
				this.leases.put(resource, new Entry("", 0, until(keepFor)));
			}
			this.subscriptions.stream()
				.filter((subscription) -> subscription.resource.equals(resource))
				.forEach((subscription) -> subscription.heard.release());
		}
		answer();
		return ours;
	}

	@Override
	public synchronized void lift(FencedResource resource, long token, Duration timeout) {
		receive();
		this.tokens.merge(resource, token, Math::max);
		answer();
	}

	@Override
	public ReleaseSubscription subscribe(LeaseRequest request) {
		Subscription subscription = new Subscription(request.resource());
		this.subscriptions.add(subscription);
		return subscription;
	}

	private void receive() {
		this.requests++;
		if (this.unavailable || this.requestsToRefuse > 0) {
			this.requestsToRefuse = Math.max(0, this.requestsToRefuse - 1);
			throw unavailable();
		}
	}

	private void answer() {
		if (this.answersToLose > 0) {
			this.answersToLose--;
			throw unavailable();
		}
	}

	private CoordinatorUnavailableException unavailable() {
		return new CoordinatorUnavailableException(null, null, "the test says so", null);
	}

	private boolean isOwner(FencedResource resource, String owner) {
		Entry entry = find(resource);
		return entry != null && entry.owner().equals(owner);
	}

	private Entry find(FencedResource resource) {
		return this.leases.computeIfPresent(resource,
				(key, entry) -> (entry.until() - this.clock.nanoTime() > 0) ? entry : null);
	}

	private long until(Duration time) {
		return this.clock.nanoTime() + time.toNanos();
	}

	private record Entry(String owner, long token, long until) {
	}

	private final class Subscription implements ReleaseSubscription {

		private final FencedResource resource;

		// listens at once
		private final Semaphore heard = new Semaphore(1);

		Subscription(FencedResource resource) {
			this.resource = resource;
		}

		@Override
		public boolean await(Duration timeout) throws InterruptedException {
			boolean released = this.heard.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS);
			this.heard.drainPermits();
			return released;
		}

		@Override
		public void close() {
			InMemoryLeaseCoordinator.this.subscriptions.remove(this);
		}

	}

}
