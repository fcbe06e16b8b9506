package io.fencing.lease;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;

import io.fencing.FencedResource;

/**
 * Passes everything on; subclasses put something in between.
 */
public class DelegatingCoordinator implements LeaseCoordinator {

	private final LeaseCoordinator delegate;

	public DelegatingCoordinator(LeaseCoordinator delegate) {
		this.delegate = delegate;
	}

	@Override
	public LeaseAnswer tryAcquire(LeaseRequest request, Duration timeout) {
		return this.delegate.tryAcquire(request, timeout);
	}

	@Override
	public Renewals renew(Collection<Lease> leases, Duration timeout) {
		return this.delegate.renew(leases, timeout);
	}

	@Override
	public boolean release(Lease lease, Duration keepFor, Duration timeout) {
		return this.delegate.release(lease, keepFor, timeout);
	}

	@Override
	public CompletableFuture<?> lineUp(LeaseRequest request) {
		return this.delegate.lineUp(request);
	}

	@Override
	public void abandon(LeaseRequest request, Duration timeout) {
		this.delegate.abandon(request, timeout);
	}

	@Override
	public void lift(FencedResource resource, long token, Duration timeout) {
		this.delegate.lift(resource, token, timeout);
	}

	@Override
	public ReleaseSubscription subscribe(LeaseRequest request) {
		return this.delegate.subscribe(request);
	}

}
