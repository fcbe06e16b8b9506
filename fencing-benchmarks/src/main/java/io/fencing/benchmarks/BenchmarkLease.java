package io.fencing.benchmarks;

import java.time.Duration;

import io.fencing.FencedResource;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;

/**
 * A lease that never ends, so that nothing is measured but the fence.
 *
 * @param resource the resource
 * @param token its token
 */
record BenchmarkLease(FencedResource resource, FencingToken token) implements HeldResource {

	@Override
	public FencedResource getResource() {
		return this.resource;
	}

	@Override
	public FencingToken getToken() {
		return this.token;
	}

	@Override
	public boolean isLost() {
		return false;
	}

	@Override
	public LossReason getLossReason() {
		return LossReason.NONE;
	}

	@Override
	public Duration getRemaining() {
		return Duration.ofDays(1);
	}

}
