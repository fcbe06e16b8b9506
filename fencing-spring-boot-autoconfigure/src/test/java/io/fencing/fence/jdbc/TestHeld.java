package io.fencing.fence.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.fencing.FencedResource;
import io.fencing.FencedResourceFactory;
import io.fencing.FencingToken;
import io.fencing.HeldResource;
import io.fencing.LossReason;

/**
 * A lease that a test gives and takes away. Tokens look like those of a coordinator:
 * microseconds, always rising.
 */
record TestHeld(FencedResource resource, FencingToken token, AtomicReference<LossReason> loss) implements HeldResource {

	private static final FencedResourceFactory RESOURCES = new FencedResourceFactory("default", "secret");

	private static final AtomicLong NEXT = new AtomicLong(System.currentTimeMillis() * 1000);

	static TestHeld next(String resource) {
		return of(resource, NEXT.incrementAndGet());
	}

	static TestHeld of(String resource, long token) {
		return new TestHeld(RESOURCES.create(resource), new FencingToken(token, "owner-" + NEXT.incrementAndGet()),
				new AtomicReference<>(LossReason.NONE));
	}

	void lose() {
		this.loss.set(LossReason.REFUSED);
	}

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
		return getLossReason() != LossReason.NONE;
	}

	@Override
	public LossReason getLossReason() {
		return this.loss.get();
	}

	@Override
	public Duration getRemaining() {
		return isLost() ? Duration.ZERO : Duration.ofSeconds(30);
	}

}
